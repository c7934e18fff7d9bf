#include "ir/kernel/count/kernel_counts.h"

#include <algorithm>

#include "ir/check.h"
#include "ir/kernel/count/count_forms.h"

namespace heddle::ir {

namespace {

KernelCounts launched(const Graph& k, const KernelPlan& plan, int64_t blocks) {
  HEDDLE_CHECK(plan.ok(), "a kernel that cannot be executed is not counted: " + plan.reason);
  KernelCounts counts;
  counts.threads = k.form->threads;
  counts.blocks = k.form->blocks > 0 && !plan.partials.empty() ? k.form->blocks : std::min(plan.most_blocks, blocks);
  return counts;
}

}  // namespace

KernelCounts count_kernel(const Graph& k, const ContractPlan& product, int64_t blocks) {
  KernelCounts counts = launched(k, plan_kernel(k, product), blocks);
  count_products(k, product, counts);
  return counts;
}

KernelCounts count_kernel(const Graph& k, int64_t blocks) {
  if (k.form->kind == KernelForm::Kind::contract) return count_kernel(k, plan_contract(k), blocks);
  const KernelPlan plan = plan_kernel(k);
  KernelCounts counts = launched(k, plan, blocks);
  switch (k.form->kind) {
    case KernelForm::Kind::rows: count_rows(k, plan, counts); break;
    case KernelForm::Kind::tile: count_tiles(k, counts); break;
    case KernelForm::Kind::primitive: count_primitive(k, plan, counts); break;
    default: count_points(k, plan, counts);
  }
  return counts;
}

}  // namespace heddle::ir
