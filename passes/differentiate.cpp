#include "passes/differentiate.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "ir/builder.h"
#include "ir/check.h"
#include "passes/dead_code.h"
#include "passes/decompose.h"
#include "passes/rewrite.h"

namespace heddle::passes {
using namespace ir;

namespace {

bool is_gradient(const Node& n) { return std::holds_alternative<Gradient>(n.op->kind); }

// The gradients of one loss: what is asked for, and the adjoints found so far.
struct Sweep {
  ValueId loss;
  std::vector<NodeId> requests;   // gradient nodes, in program order
  std::vector<ValueId> adjoints;  // by ValueId index: the derivative of the loss with respect to it
};

Sweep requests_of(const Graph& g, ValueId loss) {
  Sweep sweep;
  for (NodeId id : g.order)
    if (is_gradient(g[id]) && g[id].operands[0] == loss) sweep.requests.push_back(id);
  return sweep;
}

// The nodes on paths from the requested values to the loss, in program order. Derivatives flow through floating values
// only.
std::vector<NodeId> path_nodes(const Graph& g, const Sweep& sweep) {
  std::vector<char> depends(g.value_count(), 0), reaches(g.value_count(), 0);
  const auto at = [](auto& flags, ValueId v) -> char& { return flags[static_cast<size_t>(v.index)]; };
  for (NodeId id : sweep.requests) at(depends, g[id].operands[1]) = 1;
  for (NodeId id : g.order)
    for (ValueId v : g[id].operands)
      if (at(depends, v))
        for (ValueId r : g[id].results)
          if (is_floating(g[r].type.dtype)) at(depends, r) = 1;
  at(reaches, sweep.loss) = 1;
  std::vector<NodeId> path;
  for (size_t i = g.order.size(); i-- > 0;) {
    const Node& n = g[g.order[i]];
    const bool reached =
        std::any_of(n.results.begin(), n.results.end(), [&](ValueId r) { return at(reaches, r) && at(depends, r); });
    const bool varies = std::any_of(n.operands.begin(), n.operands.end(), [&](ValueId v) { return at(depends, v); });
    if (!reached || !varies) continue;
    for (ValueId v : n.operands) at(reaches, v) = 1;
    path.push_back(g.order[i]);
  }
  std::reverse(path.begin(), path.end());
  return path;
}

// Composites on the path that cannot differentiate themselves become operators that can.
std::vector<NodeId> decomposed_path(Graph& g, Sweep& sweep) {
  while (true) {
    sweep.loss = g[sweep.requests[0]].operands[0];  // the loss may have come from a composite
    std::vector<NodeId> path = path_nodes(g, sweep);
    const std::set<NodeId> on_path(path.begin(), path.end());
    if (!decompose_nodes(g, [&](NodeId id) { return !g[id].op->grad && on_path.count(id) != 0; })) return path;
  }
}

ValueId adjoint(const Sweep& sweep, ValueId v) {
  const auto i = static_cast<size_t>(v.index);
  return i < sweep.adjoints.size() ? sweep.adjoints[i] : ValueId{};
}

void accumulate(Builder& b, Sweep& sweep, ValueId v, ValueId contribution, size_t first_new) {
  const auto i = static_cast<size_t>(v.index);
  if (i >= sweep.adjoints.size()) sweep.adjoints.resize(i + 1);
  ValueId& total = sweep.adjoints[i];
  const std::string name = b.graph[v].name + ".grad";
  if (total.valid()) {
    total = b("add", {total, contribution}, {}, name);
    return;
  }
  total = contribution;
  // Rules that pass dy on (add, reshape of the same shape) hand back a value that has its name already.
  const bool named = b.graph[contribution].name.ends_with(".grad");
  if (static_cast<size_t>(contribution.index) >= first_new && !named) b.graph.rename(contribution, name);
}

void back_through(Builder& b, Sweep& sweep, NodeId id, size_t first_new) {
  const Node node = b.graph[id];  // a copy: building moves the array
  Values dy;
  for (ValueId r : node.results) dy.push_back(adjoint(sweep, r));
  if (std::none_of(dy.begin(), dy.end(), [](ValueId d) { return d.valid(); })) return;
  if (!node.op->grad) {
    const std::string reason = node.op->no_gradient.empty() ? "none is defined" : node.op->no_gradient;
    throw UserError(node.loc,
                    fmt::format("{} '%{}' has no gradient: {}", node.op->name, b.graph[node.results[0]].name, reason));
  }
  b.loc = node.loc;
  b.prefix = b.graph[node.results[0]].name + ".vjp";
  const Grads grads = node.op->grad(b, node, dy);
  HEDDLE_CHECK(grads.size() == node.operands.size(),
               fmt::format("{}: a gradient for each operand is expected", node.op->name));
  for (size_t i = 0; i < grads.size(); ++i) {
    if (!grads[i].valid()) continue;
    HEDDLE_CHECK(b.graph[grads[i]].type == b.graph[node.operands[i]].type,
                 fmt::format("{}: the gradient of operand {} is {}, not {}", node.op->name, i,
                             to_string(b.graph[grads[i]].type), to_string(b.graph[node.operands[i]].type)));
    accumulate(b, sweep, node.operands[i], grads[i], first_new);
  }
}

// Puts the adjoints where the gradient nodes were, under their names.
void answer(Builder& b, Sweep& sweep, size_t first_new, const Options& options) {
  Graph& g = b.graph;
  std::set<ValueId> taken;  // two requests may have one answer; the first gives it its name
  for (NodeId id : sweep.requests) {
    const Node node = g[id];
    const std::string name = g[node.results[0]].name, target = g[node.operands[1]].name;
    ValueId answer = adjoint(sweep, node.operands[1]);
    if (!answer.valid()) {
      options.note("differentiate", g, "%" + name,
                   fmt::format("zero: %{} does not depend on %{}", g[sweep.loss].name, target));
      b.loc = node.loc;
      answer = b.like(0, node.operands[1]);
    }
    g.replace_uses(node.results[0], answer);
    unlink(g, id);
    if (static_cast<size_t>(answer.index) >= first_new && taken.insert(answer).second) g.rename(answer, name);
  }
}

void sweep_back(Graph& g, NodeId first, const Options& options) {
  Sweep sweep = requests_of(g, g[first].operands[0]);
  const std::vector<NodeId> path = decomposed_path(g, sweep);
  const size_t first_value = g.value_count(), first_node = g.node_count();
  Builder b(g);
  b.loc = g[first].loc;
  sweep.adjoints.resize(g.value_count());
  b.prefix = g[sweep.loss].name + ".grad";
  {
    const BuildBefore first_gradient(
        g, static_cast<size_t>(std::find(g.order.begin(), g.order.end(), first) - g.order.begin()));
    sweep.adjoints[static_cast<size_t>(sweep.loss.index)] = b.constant(1, g[sweep.loss].type);
    for (size_t i = path.size(); i-- > 0;) back_through(b, sweep, path[i], first_value);
    answer(b, sweep, first_value, options);
  }
  drop_erased(g);
  remove_dead_nodes(g, first_node);  // gradient functions answer for operands nobody asked about
}

}  // namespace

bool differentiate(Module& m, const Options& options) {
  bool changed = false;
  for (Graph& g : m.graphs)
    while (true) {
      const auto first = std::find_if(g.order.begin(), g.order.end(), [&](NodeId id) { return is_gradient(g[id]); });
      if (first == g.order.end()) break;
      sweep_back(g, *first, options);
      changed = true;
    }
  return changed;
}

}  // namespace heddle::passes
