#include "passes/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "ir/check.h"
#include "ir/gradient_flow.h"
#include "ir/scan.h"
#include "passes/decompose.h"
#include "passes/scan/gradient.h"

namespace heddle::passes {
using namespace ir;

Path path_between(const Graph& g, const Values& wanted, const Values& reached) {
  std::vector<char> depends(g.value_count(), 0), reaches(g.value_count(), 0);
  const auto at = [](auto& flags, ValueId v) -> char& { return flags[static_cast<size_t>(v.index)]; };
  for (const ValueId v : wanted) at(depends, v) = 1;
  for (const NodeId id : g.order)
    for (const ValueId v : differentiable_operands(g[id]))
      if (at(depends, v))
        for (const ValueId r : g[id].results)
          if (is_floating(g[r].type.dtype)) at(depends, r) = 1;
  for (const ValueId v : reached) at(reaches, v) = 1;
  std::vector<NodeId> path;
  for (size_t i = g.order.size(); i-- > 0;) {
    const Node& n = g[g.order[i]];
    const bool is_reached =
        std::any_of(n.results.begin(), n.results.end(), [&](ValueId r) { return at(reaches, r) && at(depends, r); });
    const Values operands = differentiable_operands(n);
    const bool varies = std::any_of(operands.begin(), operands.end(), [&](ValueId v) { return at(depends, v); });
    if (!is_reached || !varies) continue;
    for (const ValueId v : operands) at(reaches, v) = 1;
    path.push_back(g.order[i]);
  }
  std::reverse(path.begin(), path.end());
  return {std::move(path), std::move(depends)};
}

bool decompose_on_path(Graph& g, const std::vector<NodeId>& path) {
  const std::set<NodeId> on_path(path.begin(), path.end());
  return decompose_nodes(g, [&](NodeId id) { return !g[id].op->grad && on_path.count(id) != 0; });
}

ValueId Sweep::adjoint(ValueId v) const {
  const auto i = static_cast<size_t>(v.index);
  return i < adjoints.size() ? adjoints[i] : ValueId{};
}

void Sweep::add(ValueId v, ValueId contribution) {
  const auto i = static_cast<size_t>(v.index);
  if (i >= adjoints.size()) adjoints.resize(i + 1);
  ValueId& total = adjoints[i];
  const std::string name = b.graph[v].name + ".grad";
  if (total.valid()) {
    total = b("add", {total, contribution}, {}, name);
    return;
  }
  total = contribution;
  // Rules that pass dy on (add, reshape to the same shape) return a value that already has such a name.
  const bool named = b.graph[contribution].name.ends_with(".grad");
  if (static_cast<size_t>(contribution.index) >= first_new && !named) b.graph.rename(contribution, name);
}

void Sweep::back_through(NodeId id) {
  const Node node = b.graph[id];  // a copy: the gradient of a scan may replace the scan
  Values dy;
  for (const ValueId r : node.results) dy.push_back(adjoint(r));
  if (std::none_of(dy.begin(), dy.end(), [](ValueId d) { return d.valid(); })) return;
  if (!node.op->grad && !is_scan(node)) {
    const std::string reason = node.op->no_gradient.empty() ? "none is defined" : node.op->no_gradient;
    throw UserError(node.loc,
                    fmt::format("{} '%{}' has no gradient: {}", node.op->name, b.graph[node.results[0]].name, reason));
  }
  b.loc = node.loc;
  b.prefix = b.graph[node.results[0]].name + ".vjp";
  const Grads grads = is_scan(node) ? scan_gradient(*this, id, dy) : node.op->grad(b, node, dy);
  HEDDLE_CHECK(grads.size() == node.operands.size(),
               fmt::format("{}: a gradient for each operand is expected", node.op->name));
  for (size_t i = 0; i < grads.size(); ++i) {
    if (!grads[i].valid()) continue;
    HEDDLE_CHECK(b.graph[grads[i]].type == b.graph[node.operands[i]].type,
                 fmt::format("{}: the gradient of operand {} is {}, not {}", node.op->name, i,
                             to_string(b.graph[grads[i]].type), to_string(b.graph[node.operands[i]].type)));
    add(node.operands[i], grads[i]);
  }
}

}  // namespace heddle::passes
