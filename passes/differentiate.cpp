#include "passes/differentiate.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "ir/builder.h"
#include "ir/gradient_flow.h"
#include "passes/dead_code.h"
#include "passes/rewrite.h"
#include "passes/scan/rebuild.h"
#include "passes/sweep.h"

namespace heddle::passes {
using namespace ir;

namespace {

bool is_gradient(const Node& n) { return std::holds_alternative<Gradient>(n.op->kind); }

// The gradient nodes of one loss, in program order.
std::vector<NodeId> requests_of(const Graph& g, ValueId loss) {
  std::vector<NodeId> requests;
  for (NodeId id : g.order)
    if (is_gradient(g[id]) && g[id].operands[0] == loss) requests.push_back(id);
  return requests;
}

// The path from the requested values to the loss. Decomposes composites on it that have no gradient function, until
// none is left. The loss itself may be the result of one.
Path decomposed_path(Graph& g, const std::vector<NodeId>& requests) {
  Values wanted;
  for (const NodeId id : requests) wanted.push_back(g[id].operands[1]);
  while (true) {
    Path path = path_between(g, wanted, {g[requests[0]].operands[0]});
    if (!decompose_on_path(g, path.nodes)) return path;
    wanted.clear();
    for (const NodeId id : requests) wanted.push_back(g[id].operands[1]);
  }
}

// Replaces the gradient nodes by the adjoints, which take their names.
void answer(Sweep& sweep, const std::vector<NodeId>& requests, const Options& options) {
  Graph& g = sweep.b.graph;
  std::set<ValueId> taken;  // two requests may have the same adjoint; the first one names it
  for (NodeId id : requests) {
    const Node node = g[id];
    const std::string name = g[node.results[0]].name, target = g[node.operands[1]].name;
    ValueId answer = sweep.adjoint(node.operands[1]);
    if (!answer.valid()) {
      options.note("differentiate", g, "%" + name,
                   fmt::format("zero: %{} does not depend on %{}", g[node.operands[0]].name, target));
      sweep.b.loc = node.loc;
      answer = sweep.b.like(0, node.operands[1]);
    }
    const bool own = static_cast<size_t>(answer.index) >= sweep.first_new && taken.insert(answer).second;
    if (!own && g.is_output(node.results[0])) answer = sweep.b("add", {answer, sweep.b.like(0, answer)});
    g.replace_uses(node.results[0], answer);
    unlink(g, id);
    if (own || g.is_output(answer)) g.rename(answer, name);
  }
}

void sweep_back(Module& m, Graph& g, NodeId first, const Options& options) {
  const std::vector<NodeId> requests = requests_of(g, g[first].operands[0]);
  const Path path = decomposed_path(g, requests);
  const ValueId loss = g[first].operands[0];
  const size_t first_node = g.node_count();
  Builder b(g);
  b.loc = g[first].loc;
  Sweep sweep{m, b, path.depends, std::vector<ValueId>(g.value_count()), g.value_count()};
  b.prefix = g[loss].name + ".grad";
  {
    const BuildBefore first_gradient(g, place_of(g, first));
    sweep.adjoints[static_cast<size_t>(loss.index)] = b.constant(1, g[loss].type);
    for (size_t i = path.nodes.size(); i-- > 0;) sweep.back_through(path.nodes[i]);
    answer(sweep, requests, options);
  }
  drop_erased(g);
  remove_dead_nodes(g, first_node);  // gradient functions also build gradients that were not requested
}

bool differentiate_graph(Module& m, Graph& g, const Options& options) {
  bool changed = false;
  while (true) {
    const auto first = std::find_if(g.order.begin(), g.order.end(), [&](NodeId id) { return is_gradient(g[id]); });
    if (first == g.order.end()) return changed;
    sweep_back(m, g, *first, options);
    changed = true;
  }
}

}  // namespace

// Keeps a node whose result is an output, because outputs keep their names, and one that would make an input of the
// graph the next value of a state.
bool drop_gradient_flow(Graph& g) {
  bool changed = false;
  for (const NodeId id : std::vector<NodeId>(g.order)) {
    const Node& n = g[id];
    if (gradient_flow(*n.op) == nullptr || g.is_output(n.results[0])) continue;
    if (g.is_next(n.results[0]) && g.def(n.operands[0]) == nullptr) continue;
    g.replace_uses(n.results[0], n.operands[0]);
    unlink(g, id);
    changed = true;
  }
  drop_erased(g);
  return changed;
}

bool differentiate(Module& m, const Options& options) {
  bool changed = false;
  // A gradient inside of a body adds bodies, which must stand before it.
  std::vector<Graph> bodies = std::exchange(m.bodies, {});
  for (Graph& body : bodies) {
    changed |= differentiate_graph(m, body, options);
    m.bodies.push_back(std::move(body));
  }
  for (Graph& g : m.graphs) changed |= differentiate_graph(m, g, options);
  // Not earlier: the gradients of scans go through bodies, and need these operators there.
  for (Graph* g : m.all_graphs()) changed |= drop_gradient_flow(*g);
  if (changed && !m.bodies.empty()) trim_scans(m);
  return changed;
}

}  // namespace heddle::passes
