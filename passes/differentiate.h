// Differentiate: replaces every `gradient` node by reverse accumulation.
//
//   %loss: f32[] = reduce_sum(%y)
//   %w.grad: f32[4] = gradient(%loss, %w)
//   ->
//   %loss.grad: f32[] = constant() {value = 1}
//   ...
//   %w.grad: f32[4] = mul(%y.grad, %x)
//
// All gradients of one loss share one sweep, built only along paths from the requested values to the loss. Gradients
// are taken in program order, so the sweep of a later loss may run through that of an earlier one (second order). A
// composite with a gradient function uses it, any other is decomposed first. A value the loss does not depend on has a
// gradient of zeros, with a remark. Operators that only say what gradient their operand gets (stop_gradient,
// straight_through) are taken away. Throws UserError at a node that has no gradient, with the operator's reason.
#pragma once
#include "passes/pass.h"

namespace heddle::passes {

bool differentiate(ir::Module& m, const Options& options);
// Of a graph without gradient nodes.
bool drop_gradient_flow(ir::Graph& g);

}  // namespace heddle::passes
