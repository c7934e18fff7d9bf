#include "ir/kernel/form_def.h"

namespace heddle::ir {
namespace {

std::vector<FormDef>& registered() {
  static std::vector<FormDef> forms;
  return forms;
}

}  // namespace

RegisterForm::RegisterForm(const FormDef& form) {
  const auto at = static_cast<size_t>(form.kind);
  if (registered().size() <= at) registered().resize(at + 1);
  registered()[at] = form;
}

const std::vector<FormDef>& all_forms() { return registered(); }
const FormDef& form_def(KernelForm::Kind kind) { return registered().at(static_cast<size_t>(kind)); }

loop::Statements loop::loops_of(const Graph& k, const KernelPlan& plan) {
  return form_def(k.form->kind).loops(k, plan);
}

}  // namespace heddle::ir
