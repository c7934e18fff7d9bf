#include "ir/kernel/count/count_forms.h"
#include "ir/kernel/plan_primitive.h"

namespace heddle::ir {

// Its operands once and its results once, and the instructions that the operator says.
void count_primitive(const Graph& k, const KernelPlan& plan, KernelCounts& to) {
  constexpr double kSector = 32, kLanesOfWarp = 32;
  const PrimitivePlan primitive = primitive_of(k);
  const double warps = static_cast<double>(to.blocks * to.threads) / kLanesOfWarp;
  for (const ValueId v : k.inputs) to.sectors_read += static_cast<double>(primitive_bytes(k, v)) / kSector;
  for (const ValueId v : k.outputs) to.sectors_written += static_cast<double>(primitive_bytes(k, v)) / kSector;
  to.sectors_fetched = to.sectors_read;
  to.instructions.values = primitive.instructions;
  to.instructions.memory = to.sectors_read + to.sectors_written;
  to.dependent_loads = primitive.dependent_loads;
  count_entry(static_cast<int64_t>(k.inputs.size() + k.outputs.size()) + (plan.partial_bytes > 0 ? 1 : 0), warps, warps,
              to);
}

}  // namespace heddle::ir
