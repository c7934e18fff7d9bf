#include "ir/kernel/plan_kernel.h"

#include "ir/kernel/form_def.h"
#include "ir/kernel/plan_contract.h"
#include "ir/kernel/plan_reductions.h"
#include "ir/kernel/plan_schedule.h"

namespace heddle::ir {
namespace {

template <class Plan>
KernelPlan scheduled(const Graph& kernel, Plan plan_of_form) {
  KernelPlan refused;
  try {
    if (!kernel.form) throw Refusal{"the kernel has no form"};
    KernelPlan plan = plan_of_form();
    plan_schedule(kernel, plan);
    return plan;
  } catch (const Refusal& r) {
    refused.reason = r.reason;
  }
  return refused;
}

}  // namespace

KernelPlan plan_kernel(const Graph& kernel) {
  return scheduled(kernel, [&] {
    const FormDef& form = form_def(kernel.form->kind);
    if (form.plan == nullptr) throw Refusal{std::string("form ") + form.name + " is not planned by rows and columns"};
    return form.plan(kernel);
  });
}

KernelPlan plan_kernel(const Graph& kernel, const ContractPlan& product) {
  return scheduled(kernel, [&] { return plan_products(kernel, product); });
}

}  // namespace heddle::ir
