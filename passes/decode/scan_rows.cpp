#include "passes/decode/scan_rows.h"

#include <algorithm>

#include "ir/scan.h"
#include "passes/decompose.h"

namespace heddle::passes {
using namespace ir;

ScanRows::ScanRows(const Graph& body, int64_t rows) : body_(body), sizes_{.rows = rows, .with_others = true} {
  decompose_nodes(body_, [](NodeId) { return true; });
}

// Notes the roles of a value. Returns false if it already has other roles. A constant is compatible with any roles.
bool ScanRows::put(ValueId v, const AxisRoles& roles) {
  if (const Node* n = body_.def(v); n != nullptr && n->op->traits.splat != nullptr) return true;
  const auto [at, is_new] = found_.emplace(v, roles);
  if (is_new) open_.push_back(v);
  return at->second == roles;
}

bool ScanRows::ask(size_t output, const AxisRoles& roles) {
  if (!put(body_.outputs[output], roles)) return false;
  while (!open_.empty()) {
    const ValueId v = open_.back();
    open_.pop_back();
    const AxisRoles own = found_.at(v);
    if (body_[v].role == Role::carry && !put(next_of(body_, v), own)) return false;
    const Node* n = body_.def(v);
    if (n == nullptr) continue;
    const auto result = static_cast<size_t>(body_[v].result_index);
    for (size_t i = 0; i < n->operands.size(); ++i) {
      const auto of_operand = operand_roles(body_, *n, result, i, own, sizes_);
      if (!of_operand || !put(n->operands[i], *of_operand)) return false;
    }
  }
  return true;
}

AxisRoles ScanRows::roles(ValueId input) const {
  const auto found = found_.find(input);
  return found != found_.end() ? found->second : AxisRoles(body_[input].type.dims.size(), AxisRole::other);
}

bool ScanRows::reads_index() const {
  return std::ranges::any_of(body_.inputs, [&](ValueId v) { return body_[v].role == Role::index && !body_.unused(v); });
}

}  // namespace heddle::passes
