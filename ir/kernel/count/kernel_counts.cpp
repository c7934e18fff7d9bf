#include "ir/kernel/count/kernel_counts.h"

#include <algorithm>

#include "ir/check.h"
#include "ir/kernel/count/count_forms.h"

namespace heddle::ir {

KernelCounts count_kernel(const Graph& k, int64_t blocks) {
  const KernelPlan plan = plan_kernel(k);
  HEDDLE_CHECK(plan.ok(), "a kernel that cannot be executed is not counted: " + plan.reason);
  KernelCounts counts;
  counts.threads = k.form->threads;
  counts.blocks = k.form->blocks > 0 && !plan.partials.empty() ? k.form->blocks : std::min(plan.most_blocks, blocks);
  switch (k.form->kind) {
    case KernelForm::Kind::rows: count_rows(k, plan, counts); break;
    case KernelForm::Kind::tile: count_tiles(k, counts); break;
    case KernelForm::Kind::contract: count_products(k, counts); break;
    case KernelForm::Kind::primitive: count_primitive(k, plan, counts); break;
    default: count_points(k, plan, counts);
  }
  return counts;
}

}  // namespace heddle::ir
