#include "ir/kernel/count/kernel_counts.h"

#include <algorithm>

#include "ir/check.h"
#include "ir/kernel/count/count_parts.h"
#include "ir/kernel/plan_contract.h"

namespace heddle::ir {

namespace {

KernelCounts launched(const Graph& k, const KernelPlan& plan, int64_t blocks) {
  HEDDLE_CHECK(plan.ok(), "a kernel that cannot be executed is not counted: " + plan.reason);
  KernelCounts counts;
  counts.threads = generated(*k.schedule).threads;
  counts.blocks = plan.partials.empty() ? std::min(plan.most_blocks, blocks) : plan.most_blocks;
  return counts;
}

}  // namespace

KernelCounts count_kernel(const Graph& k, const ContractPlan& product, int64_t blocks) {
  KernelCounts counts = launched(k, plan_kernel(k, product), blocks);
  const loop::Statements loops = product_loops(k, product);
  count_products(k, product, std::get<loop::Nest>(loops[0].what), counts);
  return counts;
}

KernelCounts count_kernel(const Graph& k, int64_t blocks) {
  if (std::holds_alternative<schedules::Product>(k.schedule->how)) return count_kernel(k, plan_contract(k), blocks);
  const KernelPlan plan = plan_kernel(k);
  KernelCounts counts = launched(k, plan, blocks);
  if (std::holds_alternative<schedules::Primitive>(k.schedule->how))
    count_primitive(k, plan, counts);
  else
    count_loops(k, plan, loop::loops_of(k, plan), counts);
  return counts;
}

}  // namespace heddle::ir
