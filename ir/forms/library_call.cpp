// Form contract with a library, and form opaque: a library's call.
#include <fmt/format.h>

#include "ir/kernel/form_def.h"

namespace heddle::ir {

std::string library_conflict(const Graph& kernel) {
  const auto& form = std::get<forms::LibraryCall>(kernel.form->how);
  if (form.impl.empty()) return "no library is named by impl";
  if (!kernel.form->misplaced.empty())
    return "a library's call has slices, a precision and a workspace, and no schedule of its own";
  int contractions = 0, composites = 0;
  for (const NodeId n : kernel.order) {
    contractions += std::holds_alternative<Contraction>(kernel[n].op->kind) ? 1 : 0;
    composites += std::holds_alternative<Composite>(kernel[n].op->kind) ? 1 : 0;
  }
  if ((form.contraction ? contractions : composites) != 1 || contractions + composites != 1)
    return fmt::format("it holds {} contractions and {} composites, expected one {}", contractions, composites,
                       form.contraction ? "contraction" : "composite");
  return {};
}

const FormDef<forms::LibraryCall>& form_def(const forms::LibraryCall& /*form*/) {
  using Form = forms::LibraryCall;
  static const FormDef<Form> def = {
      .name = "opaque",
      .attributes = {
          {"impl", &Form::impl}, {"slices", &Form::slices, 1, kMostAtOnce}, {"precision", &Form::precision}}};
  return def;
}

}  // namespace heddle::ir
