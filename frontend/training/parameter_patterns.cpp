#include "frontend/training/parameter_patterns.h"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/lora.h"
#include "frontend/name_pattern.h"

namespace heddle::frontend {

bool matches(const std::vector<Named>& patterns, const std::string& path) {
  return std::any_of(patterns.begin(), patterns.end(), [&](const Named& p) { return glob(p.text, path); });
}

bool is_frozen(const Train& train, const Parameter& p) {
  return matches(train.freeze, p.path) || (train.lora && !p.adapter && !trains_itself(*train.lora, p.path));
}

std::vector<std::string> paths_of(const Instance& e, ir::Role role) {
  std::vector<std::string> paths;
  for (const Parameter& p : e.parameters)
    if (p.role == role) paths.push_back(p.path);
  return paths;
}

void check_patterns(const std::vector<Named>& patterns, const Instance& e, const std::string& what,
                    Diagnostics& errors) {
  const std::vector<std::string> paths = paths_of(e, ir::Role::param), buffers = paths_of(e, ir::Role::buffer);
  for (const Named& pattern : patterns) {
    const auto named = [&](const std::string& path) { return glob(pattern.text, path); };
    if (std::any_of(paths.begin(), paths.end(), named)) continue;
    const bool buffer = std::any_of(buffers.begin(), buffers.end(), named);
    const bool copy = std::ranges::any_of(e.parameters, [&](const Parameter& p) { return p.copy && named(p.path); });
    errors.error(pattern.where, fmt::format("{} {}", quote(pattern.text), what),
                 copy     ? "copies are not trained: they follow the node that they share with"
                 : buffer ? "running statistics are not trained; they follow the data as long as the model trains"
                          : suggest_defined(pattern.text, paths));
  }
}

namespace {

void warn_of_frozen(const std::vector<Named>& patterns, const std::string& what, const Train& train, const Instance& e,
                    std::vector<Diagnostic>& warnings) {
  for (const Named& pattern : patterns) {
    size_t named = 0, frozen = 0;
    for (const Parameter& p : e.parameters) {
      if (p.role != ir::Role::param || !glob(pattern.text, p.path)) continue;
      ++named;
      if (is_frozen(train, p)) ++frozen;
    }
    if (named == 0 || frozen < named) continue;
    warnings.push_back({Severity::warning,
                        pattern.where,
                        fmt::format("all that {} matches is frozen: {} does nothing", quote(pattern.text), what),
                        {},
                        train.lora
                            ? "\"lora\" trains adapters, which \"*.lora_*\" matches, and what its \"train\" names"
                            : "leave its parameters out of \"freeze\""});
  }
}

}  // namespace

void warn_of_frozen(const Train& train, const Instance& e, std::vector<Diagnostic>& warnings) {
  for (const WeightRule& rule : train.regularize)
    warn_of_frozen(rule.match, "the regularizer " + rule.op, train, e, warnings);
  for (const WeightRule& rule : train.constrain)
    warn_of_frozen(rule.match, "the constraint " + rule.op, train, e, warnings);
  const auto of_groups = [&](const std::optional<Optimizer>& optimizer) {
    if (!optimizer) return;
    for (const OptimizerGroup& group : optimizer->groups) warn_of_frozen(group.match, "the group", train, e, warnings);
  };
  of_groups(train.optimizer);
  for (const TrainPhase& phase : train.phases) of_groups(phase.optimizer);
}

}  // namespace heddle::frontend
