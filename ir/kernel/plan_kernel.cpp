#include "ir/kernel/plan_kernel.h"

#include <algorithm>

#include "ir/kernel/form_def.h"
#include "ir/kernel/plan_contract.h"
#include "ir/kernel/plan_reductions.h"

namespace heddle::ir {
namespace {

template <class Plan>
KernelPlan planned(const Graph& kernel, Plan plan_of_form) {
  KernelPlan refused;
  try {
    if (!kernel.form) throw Refusal{"the kernel has no form"};
    return plan_of_form();
  } catch (const Refusal& r) {
    refused.reason = r.reason;
  }
  return refused;
}

}  // namespace

KernelPlan plan_kernel(const Graph& kernel) {
  return planned(kernel, [&] {
    return std::visit(
        [&](const auto& form) {
          const auto plan = form_def(form).plan;
          if (plan == nullptr) throw Refusal{"form " + to_string(*kernel.form) + " is not planned by rows and columns"};
          return plan(kernel, form);
        },
        kernel.form->how);
  });
}

KernelPlan plan_kernel(const Graph& kernel, const ContractPlan& product) {
  return planned(kernel, [&] { return plan_products(kernel, product); });
}

loop::Statements loop::loops_of(const Graph& k, const KernelPlan& plan) {
  return std::visit([&](const auto& form) { return form_def(form).loops(k, form, plan); }, k.form->how);
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
