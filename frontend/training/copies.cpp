#include "frontend/training/copies.h"

#include <map>

#include "frontend/training/average.h"
#include "frontend/training/train_step.h"

namespace heddle::frontend {

using ir::ValueId;

void renew_copies(Instance& e) {
  std::map<std::string, const Parameter*> sources;
  for (const Parameter& p : e.parameters) sources.emplace(p.path, &p);
  std::map<ValueId, ValueId> renewed;
  for (const ir::Update& u : e.graph.updates) renewed[u.state] = u.next;
  std::map<std::string, ValueId> runs;  // by node, where it copies in some steps alone
  ir::Builder b(e.graph);
  for (const Parameter& p : e.parameters) {
    if (!p.copy) continue;
    b.loc = p.where;
    const Parameter& source = *sources.at(p.copy->source);
    const auto found = renewed.find(source.value);
    const ValueId fresh = found == renewed.end() ? source.value : found->second;
    if (p.copy->every > 1 && !runs.contains(p.copy->node))
      runs[p.copy->node] = is_nth(b, e.counter("step"), p.copy->every, p.copy->node + ".copy");
    b.prefix = p.path + ".constant";
    const bool moves = p.copy->average && source.role == ir::Role::param;
    const ValueId next = moves ? moved_to(b, p.value, fresh, *p.copy->average, p.path)
                               : if_runs(b, runs[p.copy->node], fresh, p.value, p.path);
    e.graph.updates.push_back({p.value, next});
  }
}

}  // namespace heddle::frontend
