#include "passes/expand.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/builder.h"
#include "ir/check.h"
#include "passes/outline.h"
#include "passes/select/select.h"

namespace heddle::passes {
using namespace ir;

namespace {

size_t position_of(const Graph& g, NodeId id) {
  const auto at = std::find(g.order.begin(), g.order.end(), id);
  HEDDLE_CHECK(at != g.order.end(), "the node is not in the order of its graph");
  return static_cast<size_t>(at - g.order.begin());
}

// Libraries are asked for what an expansion makes, too: attention that none takes may hold a softmax that one does.
bool expand_graph(Module& m, Graph& g, const Options& options) {
  bool expanded = false, taken = false;
  for (size_t i = 0; i < g.order.size();) {
    const NodeId n = g.order[i];
    if (!is_expandable(g[n])) {
      ++i;
    } else if (select_composite(m, g, n, options)) {
      taken = true;  // the next node is at i now
    } else {
      expand_node(g, n);  // its first new node is at i now
      expanded = true;
    }
  }
  if (taken) sort_topologically(g);
  return expanded || taken;
}

}  // namespace

bool is_expandable(const Node& n) {
  return std::holds_alternative<Composite>(n.op->kind) && n.op->expansion != nullptr;
}

void expand_node(Graph& g, NodeId id) {
  const Node node = g[id];  // a copy: building moves the array
  const size_t first_new = g.value_count();
  Builder b(g);
  b.loc = node.loc;
  b.prefix = g[node.results[0]].name;
  b.insert_at = position_of(g, id);
  const Values values = node.op->expansion(b, node);
  HEDDLE_CHECK(values.size() == node.results.size(), fmt::format("{}: the expansion has other results", node.op->name));
  std::vector<std::string> names;
  for (size_t i = 0; i < values.size(); ++i) {
    HEDDLE_CHECK(g[values[i]].type == g[node.results[i]].type,
                 fmt::format("{}: the expansion has another type", node.op->name));
    names.push_back(g[node.results[i]].name);
    g.replace_uses(node.results[i], values[i]);
  }
  g.erase(id);
  for (size_t i = 0; i < values.size(); ++i)
    if (static_cast<size_t>(values[i].index) >= first_new) g.rename(values[i], names[i]);
}

bool expand(Module& m, const Options& options) {
  bool changed = false;
  for (Graph& g : m.graphs) changed |= expand_graph(m, g, options);
  return changed;
}

}  // namespace heddle::passes
