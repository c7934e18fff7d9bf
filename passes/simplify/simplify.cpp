#include "passes/simplify/simplify.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "passes/dead_code.h"
#include "passes/rewrite.h"
#include "passes/scan/rebuild.h"
#include "passes/simplify/rules.h"

namespace heddle::passes {
using namespace ir;

namespace {

// NaN is not equal to itself, so nodes with a NaN attribute are never merged.
bool has_nan(const Attrs& attrs) {
  return std::any_of(attrs.begin(), attrs.end(), [](const auto& a) {
    const auto* real = std::get_if<double>(&a.second);
    return real != nullptr && std::isnan(*real);
  });
}

struct AttrHash {
  template <class T>
  size_t operator()(const T& value) const {
    return std::hash<T>{}(value);
  }
  size_t operator()(const ScalarName& scalar) const { return std::hash<std::string>{}(scalar.name); }
  size_t operator()(const std::vector<int64_t>& list) const {
    size_t h = list.size();
    for (const int64_t x : list) h = (h ^ static_cast<size_t>(x)) * 0x100000001b3;
    return h;
  }
};

// The nodes visited so far, for finding an equal one.
class Computed {
 public:
  explicit Computed(const Graph& g) : g_(g) { seen_.reserve(g.order.size()); }

  // The first node visited that computes the same; `id` itself if there is none.
  NodeId first(NodeId id) {
    const auto [begin, end] = seen_.equal_range(hash(g_[id]));
    for (auto alike = begin; alike != end; ++alike)
      if (equal(g_[id], g_[alike->second])) return alike->second;
    seen_.emplace(hash(g_[id]), id);
    return id;
  }

 private:
  static Values sorted_operands(const Node& n) {
    Values list = n.operands;
    std::sort(list.begin(), list.end());
    return list;
  }
  size_t hash(const Node& n) const {
    size_t h = std::hash<const OpDef*>{}(n.op);
    const auto add = [&](size_t word) { h = (h ^ word) * 0x100000001b3; };
    size_t sum = 0;  // over all operands, so that their order does not matter
    for (const ValueId v : n.operands) sum += (index_of(v) + 1) * 0x9e3779b97f4a7c15;
    add(sum);
    for (const auto& [name, value] : n.attrs) add(std::visit(AttrHash{}, value));
    return h;
  }
  bool equal(const Node& a, const Node& b) const {
    if (a.op != b.op || a.operands.size() != b.operands.size() || a.callee != b.callee || !same(a.attrs, b.attrs))
      return false;
    if (a.results.size() != b.results.size()) return false;
    for (size_t i = 0; i < a.results.size(); ++i)
      if (g_[a.results[i]].type != g_[b.results[i]].type) return false;
    return a.operands == b.operands || (a.op->traits.commutative && sorted_operands(a) == sorted_operands(b));
  }

  const Graph& g_;
  std::unordered_multimap<size_t, NodeId> seen_;  // by hash
};

// Replaces `old` by `with`; `fresh`: `with` was built for it. Returns false if that is not possible: a returned value
// keeps its name, so two returned values stay two.
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

// Returns true if a rule replaced the node. The new nodes are then at the end of the order.
bool rewrite(Graph& g, NodeId id) {
  const Node& n = g[id];
  if (n.results.size() != 1) return false;
  Builder b(g);
  b.loc = n.loc;
  b.prefix = g[n.results[0]].name;
  const size_t first_new = g.value_count();
  const ValueId with = apply_rules(b, n);
  if (!with.valid() || !replace(g, n.results[0], with, static_cast<size_t>(with.index) >= first_new)) return false;
  unlink(g, id);
  return true;
}

bool simplify_graph(Graph& g) {
  bool changed = false;
  for (bool again = true; again;) {
    again = remove_dead_nodes(g);
    again |= rewrite_nodes(g, [&](NodeId id) { return rewrite(g, id); });
    again |= merge_common_nodes(g);
    changed |= again;
  }
  return changed;
}

}  // namespace

ValueId apply(const std::vector<Rule>& rules, Builder& b, const Node& n) {
  for (const Rule& rule : rules) {
    if (!rule.of(n.op->traits)) continue;
    if (const ValueId v = rule.apply(b, n); v.valid()) return v;
  }
  return {};
}

ValueId apply_rules(Builder& b, const Node& n) {
  for (const auto* rules :
       {&folding_rules(), &elementwise_rules(), &movement_rules(), &reduction_rules(), &product_rules()})
    if (const ValueId v = apply(*rules, b, n); v.valid()) return v;
  return apply_scalar_rules(b, n);
}

bool merge_common_nodes(Graph& g) {
  bool changed = false;
  Computed computed(g);
  for (NodeId id : g.order) {
    const Node& n = g[id];
    if (has_nan(n.attrs)) continue;
    const NodeId first = computed.first(id);
    if (first == id) continue;
    bool gone = true;
    for (size_t i = 0; i < n.results.size(); ++i) {
      if (g.unused(n.results[i])) continue;
      const bool replaced = replace(g, n.results[i], g[first].results[i], false);
      changed |= replaced;
      gone &= replaced;
    }
    if (!gone) continue;
    unlink(g, id);
    changed = true;
  }
  if (changed) drop_erased(g);
  return changed;
}

bool simplify(Module& m, const Options&) {
  bool changed = false;
  for (Graph* g : m.all_graphs()) changed |= simplify_graph(*g);
  // Trimming the unused results of scans makes further nodes dead, in their bodies and around them.
  while (!m.bodies.empty() && trim_scans(m)) {
    changed = true;
    for (Graph* g : m.all_graphs()) simplify_graph(*g);
  }
  return changed;
}

}  // namespace heddle::passes
