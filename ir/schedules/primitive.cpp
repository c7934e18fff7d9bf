// Schedule primitive: a function of the preamble executes the operator; joined operators are executed one after the
// other.
#include "ir/kernel/plan_primitive.h"
#include "ir/kernel/schedule_def.h"

namespace heddle::ir {
namespace {

loop::Statements primitive_loops(const Graph& k, const schedules::Primitive& /*schedule*/, const KernelPlan& /*plan*/) {
  loop::Statements calls;
  for (const NodeId n : k.order) calls.push_back({loop::CallPrimitive{n}});
  return calls;
}

}  // namespace

const KernelScheduleDef<schedules::Primitive>& schedules::Primitive::def() {
  static const KernelScheduleDef<schedules::Primitive> def = {.name = "primitive",
                                                              .attributes = of_generated<schedules::Primitive>({}),
                                                              .plan = plan_primitive,
                                                              .loops = primitive_loops,
                                                              .traits = {.writes_over = WritesOver::operand}};
  return def;
}

}  // namespace heddle::ir
