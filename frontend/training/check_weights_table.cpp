#include "frontend/training/check_weights_table.h"

#include <fmt/format.h>

#include <algorithm>

namespace heddle::frontend {
namespace {

// The parameters' names as a pattern could name them: what it holds stands in its place.
std::vector<std::string> names_like(const NamePattern& pattern, const std::vector<std::string>& paths) {
  std::vector<std::string> names;
  for (const std::string& path : paths) {
    NamePattern own = read_name_pattern(path, {}, "a parameter");
    if (own.parts.size() != pattern.parts.size()) continue;
    std::string name;
    for (size_t i = 0; i < own.parts.size(); ++i) {
      const NamePattern::Part& part = pattern.parts[i];
      name += (i == 0 ? "" : ".") + (part.held ? "{" + part.text + "}" : own.parts[i].text);
    }
    if (std::ranges::count(names, name) == 0) names.push_back(name);
  }
  return names;
}

}  // namespace

void check_weights_table(const WeightsTable& table, const Instance& e, Diagnostics& errors) {
  std::vector<std::string> paths;
  for (const Parameter& p : e.parameters) paths.push_back(p.path);
  for (const RenamedTensor& renamed : table.names)
    for (size_t i = 0; i < renamed.to_patterns.size(); ++i) {
      const NamePattern& pattern = renamed.to_patterns[i];
      if (std::ranges::any_of(paths, [&](const std::string& path) { return match(pattern, path).has_value(); }))
        continue;
      errors.error(renamed.to[i].where, fmt::format("weights: no parameter is called {}", quote(renamed.to[i].text)),
                   suggest_defined(renamed.to[i].text, names_like(pattern, paths)));
    }
  for (const Named& missing : table.missing)
    if (std::ranges::none_of(paths, [&](const std::string& path) { return glob(missing.text, path); }))
      errors.error(missing.where, fmt::format("weights: 'missing': no parameter is called {}", quote(missing.text)),
                   suggest_defined(missing.text, paths));
}

}  // namespace heddle::frontend
