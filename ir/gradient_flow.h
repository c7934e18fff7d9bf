// Gradient flow: operators that are their first operand, bit for bit, and say what gradient arrives at their operands.
//
//   %y = stop_gradient(%x)              is %x; no derivative leads from %y to %x
//   %y = straight_through(%f, %b)       is %f; the derivative leads to %b alone
//
// ir/ops/gradient_flow.cpp has them. Passes ask here, never for a name; differentiate takes them away.
#pragma once
#include <optional>

#include "ir/op_def.h"

namespace heddle::ir {

struct GradientFlow {
  static constexpr int kNothing = -1;
  std::optional<int> to = {};  // the one operand that derivatives lead to, or kNothing; absent: as the gradient says
};
struct RegisterGradientFlow {
  explicit RegisterGradientFlow(OpDef def, const GradientFlow& flow = {});
};
const GradientFlow* gradient_flow(const OpDef& op);  // nullptr: an operator as any other

// The operands that results of the node may have a derivative by; its kind and its dtypes say more.
Values differentiable_operands(const Node& n);
// Floating values that derivatives by `from` reach, by ValueId index.
std::vector<char> reached_by_derivatives(const Graph& g, const Values& from);

}  // namespace heddle::ir
