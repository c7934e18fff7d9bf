// Form primitive: the one operator, by its function of the preamble.
#include "ir/kernel/form_def.h"
#include "ir/kernel/plan_primitive.h"

namespace heddle::ir {
namespace {

loop::Statements primitive_loops(const Graph& k, const forms::Primitive& /*form*/, const KernelPlan& /*plan*/) {
  return {{loop::CallPrimitive{k.order[0]}}};
}

}  // namespace

const FormDef<forms::Primitive>& form_def(const forms::Primitive& /*form*/) {
  static const FormDef<forms::Primitive> def = {.name = "primitive",
                                                .attributes = of_generated<forms::Primitive>({}),
                                                .plan = plan_primitive,
                                                .loops = primitive_loops};
  return def;
}

}  // namespace heddle::ir
