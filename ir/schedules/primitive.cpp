// Schedule primitive: the one operator, by its function of the preamble.
#include "ir/kernel/plan_primitive.h"
#include "ir/kernel/schedule_def.h"

namespace heddle::ir {
namespace {

loop::Statements primitive_loops(const Graph& k, const schedules::Primitive& /*schedule*/, const KernelPlan& /*plan*/) {
  return {{loop::CallPrimitive{k.order[0]}}};
}

}  // namespace

const KernelScheduleDef<schedules::Primitive>& schedule_def(const schedules::Primitive& /*schedule*/) {
  static const KernelScheduleDef<schedules::Primitive> def = {.name = "primitive",
                                                              .attributes = of_generated<schedules::Primitive>({}),
                                                              .plan = plan_primitive,
                                                              .loops = primitive_loops};
  return def;
}

}  // namespace heddle::ir
