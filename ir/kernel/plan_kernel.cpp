#include "ir/kernel/plan_kernel.h"

#include <algorithm>

#include "ir/kernel/plan_contract.h"
#include "ir/kernel/plan_reductions.h"
#include "ir/kernel/schedule_def.h"

namespace heddle::ir {
namespace {

template <class Plan>
KernelPlan planned(const Graph& kernel, Plan plan_of_schedule) {
  KernelPlan refused;
  try {
    if (!kernel.schedule) throw Refusal{"the kernel has no schedule"};
    return plan_of_schedule();
  } catch (const Refusal& r) {
    refused.reason = r.reason;
  }
  return refused;
}

}  // namespace

KernelPlan plan_kernel(const Graph& kernel) {
  return planned(kernel, [&] {
    return std::visit(
        [&](const auto& schedule) {
          const auto plan = schedule.def().plan;
          if (plan == nullptr)
            throw Refusal{"schedule " + to_string(*kernel.schedule) + " is not planned by rows and columns"};
          return plan(kernel, schedule);
        },
        kernel.schedule->how);
  });
}

KernelPlan plan_kernel(const Graph& kernel, const ContractPlan& product) {
  return planned(kernel, [&] { return plan_products(kernel, product); });
}

loop::Statements loop::loops_of(const Graph& k, const KernelPlan& plan) {
  return std::visit([&](const auto& schedule) { return schedule.def().loops(k, schedule, plan); }, k.schedule->how);
}

bool has_reduction(const KernelPlan& plan, ReductionPlan how) {
  return std::any_of(plan.values.begin(), plan.values.end(), [&](const ValuePlan& v) { return v.reduction == how; });
}

bool is_column(const Graph& kernel, const KernelPlan& plan, NodeId reduction) {
  return plan.of(kernel[reduction].results[0]).reduction == ReductionPlan::column;
}

bool is_single(const KernelPlan& plan, const ValuePlan& value) {
  return value.extent == Extent::scalar || (value.extent == Extent::row && plan.span && !value.finishing);
}

}  // namespace heddle::ir
