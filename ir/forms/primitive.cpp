// Form primitive: the one operator, by its function of the preamble.
#include "ir/kernel/form_def.h"
#include "ir/kernel/plan_primitive.h"

namespace heddle::ir {
namespace {

loop::Statements primitive_loops(const Graph& k, const KernelPlan& /*plan*/) {
  return {{loop::CallPrimitive{k.order[0]}}};
}

const RegisterForm primitive(
    {.kind = KernelForm::Kind::primitive, .name = "primitive", .plan = plan_primitive, .loops = primitive_loops});

}  // namespace
}  // namespace heddle::ir
