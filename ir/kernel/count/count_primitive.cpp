#include "ir/kernel/count/count_parts.h"
#include "ir/kernel/plan_primitive.h"

namespace heddle::ir {

// Counts a primitive: the memory and instructions that the operator declares. If it declares no memory, each operand is
// read once and each result written once.
void count_primitive(const Graph& k, const KernelPlan& plan, KernelCounts& to) {
  constexpr double kLanesOfWarp = 32;
  const PrimitivePlan primitive = primitive_of(k);
  const Node& n = k[k.order[0]];
  const double warps = static_cast<double>(to.blocks * to.threads) / kLanesOfWarp;
  PrimitiveMemory memory;
  const PrimitiveBytes bytes = bytes_of_primitive(k);
  memory.read = static_cast<double>(bytes.read) / PrimitiveMemory::kSector;
  memory.written = static_cast<double>(bytes.written) / PrimitiveMemory::kSector;
  memory.fetched = memory.read;
  if (const auto& other = std::get<Primitive>(n.op->kind).memory) memory = other(signature(k, n), primitive, memory);
  to.sectors_read = memory.read;
  to.sectors_fetched = memory.fetched;
  to.sectors_written = memory.written;
  to.shared_wavefronts = to.ideal_wavefronts = memory.wavefronts;
  to.instructions.values = primitive.instructions;
  to.dependent_loads = primitive.dependent_loads;
  count_entry(static_cast<int64_t>(k.inputs.size() + k.outputs.size()) + (plan.partial_bytes > 0 ? 1 : 0), warps, warps,
              to);
}

}  // namespace heddle::ir
