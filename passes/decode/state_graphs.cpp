#include "passes/decode/state_graphs.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "ir/builder.h"
#include "ir/copy_node.h"

namespace heddle::passes {
using namespace ir;

std::string kept_name(const Graph& forward, ValueId v) { return forward[v].name + ".kept"; }

Graph encode_graph(const Needs& needs) {
  const Graph& f = needs.forward;
  std::vector<char> needed(f.value_count(), 0);
  for (const ValueId v : needs.kept) needed[index_of(v)] = 1;
  const auto is_needed = [&](ValueId v) { return needed[index_of(v)] != 0; };
  for (size_t i = f.order.size(); i-- > 0;) {
    const Node& n = f[f.order[i]];
    if (std::ranges::any_of(n.results, is_needed))
      for (const ValueId v : n.operands) needed[index_of(v)] = 1;
  }
  Graph g;
  g.name = "encode";
  std::map<ValueId, ValueId> made;
  for (const ValueId v : f.inputs)
    if (is_needed(v)) made[v] = g.add_input(f[v].name, f[v].type, f[v].role, f[v].layout);
  for (const NodeId id : f.order) {
    const Node& n = f[id];
    if (!std::ranges::any_of(n.results, is_needed)) continue;
    Values operands;
    for (const ValueId v : n.operands) operands.push_back(made.at(v));
    const NodeId copy = copy_node(g, f, n, std::move(operands));
    for (size_t r = 0; r < n.results.size(); ++r) made[n.results[r]] = g[copy].results[r];
  }
  for (const ValueId v : needs.kept)
    g.updates.push_back({g.add_input(kept_name(f, v), f[v].type, Role::state), made.at(v)});
  return g;
}

Graph reorder_graph(const StepGraph& step, int64_t count) {
  Graph g;
  g.name = "reorder";
  Builder b(g);
  const ValueId from = g.add_input("from", {DType::i32, {count}}, Role::input);
  for (const auto& [of_step, axis] : step.states) {
    const Value& known = step.graph[of_step];
    b.prefix = known.name + ".next";
    const ValueId state = g.add_input(known.name, known.type, Role::state);
    const Dims apart{count, known.type.elements() / count};
    const ValueId rows = axis == StepGraph::kOutermost ? b.reshape(state, apart) : state;
    const ValueId turned = b("gather", {rows, from}, {{"axis", std::max<int64_t>(axis, 0)}});
    g.updates.push_back({state, b.reshape(turned, known.type.dims)});
  }
  return g;
}

}  // namespace heddle::passes
