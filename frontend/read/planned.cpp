#include "frontend/read/planned.h"

#include <algorithm>

#include "frontend/read/foreign_names.h"

namespace heddle::frontend {
const std::vector<Planned>& planned() {
  static const std::vector<Planned> all = {{PlannedKind::key, "parallel", "leave it out: one device trains"}};
  return all;
}

const Planned* find_planned(PlannedKind kind, std::string_view name) {
  if (name.size() > 64) return nullptr;
  const std::string plain = plain_word(name);
  const auto at = std::ranges::find_if(planned(), [&](const Planned& p) {
    return p.kind == kind && (plain_word(p.name) == plain || std::ranges::count(p.foreign, plain) != 0);
  });
  return at == planned().end() ? nullptr : &*at;
}

}  // namespace heddle::frontend
