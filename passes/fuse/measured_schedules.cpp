#include "passes/fuse/measured_schedules.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "ir/op_def.h"
#include "passes/fuse/choose_schedule.h"
#include "passes/fuse/product_schedule.h"

namespace heddle::passes {
using namespace ir;

namespace {

bool holds_product(const Graph& k) {
  return std::ranges::any_of(k.order, [&](NodeId n) { return std::holds_alternative<Contraction>(k[n].op->kind); });
}

std::string name_of(const KernelSchedule& schedule) {
  const auto* product = std::get_if<schedules::Product>(&schedule.how);
  return product != nullptr ? tiles_name(*product) : kLoops;
}

void add(Decision& decision, const KernelSchedule& schedule) {
  const std::string name = name_of(schedule);
  if (std::ranges::count(decision.candidates, name) > 0) return;
  decision.candidates.push_back(name);
  decision.schedules.push_back(schedule);
}

// The candidates for a kernel, its current schedule first.
Decision decision_on(const Graph& k, const Target& target) {
  constexpr size_t kMostTiles = 6;
  Decision decision{.body = "fused: " + choice_body(k), .kernel = k, .candidates = {}, .taken = name_of(*k.schedule)};
  add(decision, *k.schedule);
  for (const KernelSchedule& schedule : product_schedules(k, target, kMostTiles)) add(decision, schedule);
  Graph loops = k;
  loops.schedule.reset();
  if (choose_loops(loops, target).empty()) add(decision, *loops.schedule);
  return decision;
}

void follow(const MeasuredChoice& choice, Decision& decision, Graph& k) {
  const auto found = std::ranges::find(decision.candidates, choice.chosen);
  if (found == decision.candidates.end())
    throw UserError(ExitCode::failed,
                    fmt::format("{}'{}' is no candidate for @{}", choice.origin, choice.chosen, k.name),
                    "measure again: heddle tune MODEL -o TABLE");
  decision.taken = choice.chosen;
  k.schedule = decision.schedules[static_cast<size_t>(found - decision.candidates.begin())];
}

std::map<std::string, int64_t> uses_of_kernels(const Module& m) {
  std::map<std::string, int64_t> uses;
  for (const Graph* g : m.all_graphs())
    for (const NodeId n : g->order)
      if (!(*g)[n].callee.empty()) ++uses[(*g)[n].callee];
  return uses;
}

}  // namespace

bool follow_measured_schedules(Module& m, const Options& options) {
  if (!options.target.gpu || (options.choices.empty() && !options.decided)) return false;
  bool changed = false;
  const std::map<std::string, int64_t> uses = uses_of_kernels(m);
  for (Graph& k : m.kernels) {
    if (calls_library(k) || !holds_product(k)) continue;
    Decision decision = decision_on(k, options.target);
    if (const auto used = uses.find(k.name); used != uses.end()) decision.uses = used->second;
    if (const auto choice = options.choices.find(decision.body); choice != options.choices.end()) {
      changed |= choice->second.chosen != decision.taken;
      follow(choice->second, decision, k);
    }
    if (options.decided) options.decided(decision);
  }
  return changed;
}

}  // namespace heddle::passes
