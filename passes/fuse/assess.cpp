#include "passes/fuse/assess.h"

#include <utility>

#include "passes/fuse/choose_schedule.h"

namespace heddle::passes {

Assessment& Assessor::assess(const ir::Graph& g, const Sketch& s) {
  const auto [known, is_new] = bodies_.try_emplace(s.key);
  Assessment& a = known->second;
  if (!is_new) return a;
  ir::Graph kernel = extract(g, s.nodes, s.results).kernel;
  FormChoice choice = choose_schedule(kernel, target_);
  a.reason = std::move(choice.reason);
  if (!a.reason.empty()) return a;
  a.schedule = kernel.schedule;
  a.cost = choice.cost;
  return a;
}

const ir::Cost& Assessor::plain_cost(const ir::Graph& g, const Sketch& s) {
  const auto [known, is_new] = plain_.try_emplace(s.key);
  if (is_new) known->second = ir::estimated_cost(extract(g, s.nodes, s.results).kernel, target_);
  return known->second;
}

}  // namespace heddle::passes
