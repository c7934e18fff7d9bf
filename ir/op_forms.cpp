#include "ir/op_forms.h"

#include <map>

namespace heddle::ir {
namespace {

struct More {
  std::vector<Form> forms;
  std::function<FlopCounts(const Signature&)> work;
};
// A function, because operators register before main.
std::map<std::string, More>& registry() {
  static std::map<std::string, More> all;
  return all;
}

}  // namespace

const std::vector<Form>& forms_of(const OpDef& op) {
  static const std::vector<Form> kNone;
  const auto found = registry().find(op.name);
  return found == registry().end() ? kNone : found->second.forms;
}

std::optional<FlopCounts> flop_counts_of(const OpDef& op, const Signature& s) {
  const auto found = registry().find(op.name);
  if (found == registry().end() || !found->second.work) return std::nullopt;
  return found->second.work(s);
}

RegisterForm::RegisterForm(const std::string& op, Form form) { registry()[op].forms.push_back(std::move(form)); }
RegisterFlopCounts::RegisterFlopCounts(const std::string& op, std::function<FlopCounts(const Signature&)> work) {
  registry()[op].work = std::move(work);
}

}  // namespace heddle::ir
