#include "passes/simplify/simplify.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "passes/dead_code.h"
#include "passes/simplify/rules.h"

namespace heddle::passes {
using namespace ir;

namespace {

using NodeKey = std::tuple<const OpDef*, std::string, Values, Attrs, std::vector<std::string>>;

// Nan equals nothing, not even itself, and would upset the order of keys.
bool has_nan(const Attrs& attrs) {
  return std::any_of(attrs.begin(), attrs.end(), [](const auto& a) {
    const auto* real = std::get_if<double>(&a.second);
    return real != nullptr && std::isnan(*real);
  });
}

NodeKey key(const Graph& g, const Node& n) {
  Values operands = n.operands;
  if (is_commutative(n.op->name)) std::sort(operands.begin(), operands.end());
  std::vector<std::string>
      types;  // two constants of one value may differ in type only through attributes: belt and braces
  for (ValueId r : n.results) types.push_back(to_string(g[r].type));
  return {n.op, n.callee, operands, n.attrs, types};
}

// Lets `with` stand for `old`. A returned value keeps its name, so two returned values stay two.
bool replace(Graph& g, ValueId old, ValueId with, bool fresh) {
  const bool takes_name = fresh || (g.is_output(old) && !g.is_output(with) && g[with].def.valid());
  if (g.is_output(old) && !takes_name) return false;
  const std::string name = g[old].name;
  g.replace_uses(old, with);
  if (!takes_name) return true;
  g.rename(old, name + ".old");
  g.rename(with, name);
  return true;
}

// Rewrites the node at position i of the order; true when it is gone and what replaced it begins there.
bool rewrite(Graph& g, size_t i) {
  const NodeId id = g.order[i];
  const Node n = g[id];  // a copy: building moves the array
  if (n.results.size() != 1) return false;
  Builder b(g);
  b.loc = n.loc;
  b.prefix = g[n.results[0]].name;
  b.insert_at = i;
  const size_t first_new = g.value_count();
  const ValueId with = apply_rules(b, n);
  if (!with.valid() || !replace(g, n.results[0], with, static_cast<size_t>(with.index) >= first_new)) return false;
  g.erase(id);
  return true;
}

bool apply_rules_everywhere(Graph& g) {
  bool changed = false;
  for (size_t i = 0; i < g.order.size();) {
    if (rewrite(g, i))
      changed = true;
    else
      ++i;
  }
  return changed;
}

bool simplify_graph(Graph& g) {
  bool changed = false;
  for (bool again = true; again;) {
    again = remove_dead_nodes(g);
    again |= apply_rules_everywhere(g);
    again |= merge_common_nodes(g);
    changed |= again;
  }
  return changed;
}

}  // namespace

bool is_commutative(std::string_view op) {
  static const std::set<std::string_view> kNames = {"add", "and", "eq", "mul", "ne", "or", "xor"};
  return kNames.count(op) > 0;
}

ValueId apply(const std::vector<Rule>& rules, Builder& b, const Node& n) {
  for (const Rule& rule : rules) {
    if (!rule.op.empty() && rule.op != n.op->name) continue;
    if (const ValueId v = rule.apply(b, n); v.valid()) return v;
  }
  return {};
}

ValueId apply_rules(Builder& b, const Node& n) {
  for (const auto* rules : {&folding_rules(), &elementwise_rules(), &movement_rules(), &reduction_rules()})
    if (const ValueId v = apply(*rules, b, n); v.valid()) return v;
  return apply_scalar_rules(b, n);
}

bool merge_common_nodes(Graph& g) {
  bool changed = false;
  std::map<NodeKey, NodeId> seen;
  for (NodeId id : std::vector<NodeId>(g.order)) {
    const Node& n = g[id];
    if (has_nan(n.attrs)) continue;
    const auto [first, is_new] = seen.emplace(key(g, n), id);
    if (is_new) continue;
    bool gone = true;
    for (size_t i = 0; i < n.results.size(); ++i)
      if (!g.unused(n.results[i])) gone &= replace(g, n.results[i], g[first->second].results[i], false);
    if (!gone) continue;
    g.erase(id);
    changed = true;
  }
  return changed;
}

bool simplify(Module& m, const Options&) {
  bool changed = false;
  for (Graph& g : m.graphs) changed |= simplify_graph(g);
  return changed;
}

}  // namespace heddle::passes
