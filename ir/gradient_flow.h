// Gradient flow: operators that return their first operand, bit for bit, and redirect or stop its gradient.
//
//   %y = stop_gradient(%x)              is %x; no derivative leads from %y to %x
//   %y = straight_through(%f, %b)       is %f; the derivative leads to %b alone
//
// ir/ops/gradient_flow.cpp defines them. Passes ask gradient_flow(), not for names. `differentiate` removes the nodes.
#pragma once
#include <optional>

#include "ir/op_def.h"

namespace heddle::ir {

struct GradientFlow {
  static constexpr int kNothing = -1;
  // The one operand to which derivatives lead, or kNothing. Absent: the operator's `grad` decides.
  std::optional<int> to = {};
};
struct RegisterGradientFlow {
  explicit RegisterGradientFlow(OpDef def, const GradientFlow& flow = {});
};
const GradientFlow* gradient_flow(const OpDef& op);  // nullptr for all other operators

// The operands to which derivatives of the node's results may lead. The caller still has to check kind and dtypes.
Values differentiable_operands(const Node& n);
// Flags by ValueId index: 1 for the values of `from`, and for the floating values that have a derivative by one of
// them.
std::vector<char> reached_by_derivatives(const Graph& g, const Values& from);

}  // namespace heddle::ir
