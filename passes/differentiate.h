// Differentiate: replaces every `gradient` node by reverse accumulation.
//
//   %loss: f32[] = reduce_sum(%y)
//   %w.grad: f32[4] = gradient(%loss, %w)
//   ->
//   %loss.grad: f32[] = constant() {value = 1}
//   ...
//   %w.grad: f32[4] = mul(%y.grad, %x)
//
// All gradients of one loss share one backward sweep. It is built only along paths from the requested values to the
// loss. Losses are handled in program order, so the sweep of a later loss may pass through the sweep of an earlier one
// (second-order gradients). A composite with a gradient function uses it; any other composite is decomposed first. If
// the loss does not depend on a value, its gradient is zeros, and a remark says so. Operators that only define the
// gradient of their operand (stop_gradient, straight_through) are removed. Throws UserError at a node that has no
// gradient, with the operator's reason.
#pragma once
#include "passes/pass.h"

namespace heddle::passes {

bool differentiate(ir::Module& m, const Options& options);
// Removes the operators that only define gradients (stop_gradient, straight_through) from a graph without gradient
// nodes. Returns whether there were any.
bool drop_gradient_flow(ir::Graph& g);

}  // namespace heddle::passes
