#include "passes/flatten/update_pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "ir/storage/storage.h"

namespace heddle::passes {
using namespace ir;

namespace {

// The longest chain of operators that still counts as an update rule. Optimizers have about ten in a row.
constexpr int kLongestRule = 256;
// How often the operators that compute the leaves may be added to the rule.
constexpr int kMostPromotions = 16;

UpdatePart part_of(const Graph& g, const Node& n, const std::vector<UpdatePart>& parts) {
  if (n.op->traits.splat) return UpdatePart::constant;
  if (n.op->traits.spread && g[n.operands[0]].type.rank() == 0) return UpdatePart::scalar;
  if (!std::holds_alternative<Elementwise>(n.op->kind)) return UpdatePart::leaf;
  const auto counts = [&](ValueId v) {
    const UpdatePart p = parts[static_cast<size_t>(v.index)];
    return p == UpdatePart::state || p == UpdatePart::scalar || p == UpdatePart::step;
  };
  return std::any_of(n.operands.begin(), n.operands.end(), counts) ? UpdatePart::step : UpdatePart::leaf;
}

// Numbers values in the order in which a traversal first meets them. begin() starts a new traversal: it forgets all
// numbers without touching each entry.
class Numbers {
 public:
  explicit Numbers(size_t values) : of_(values) {}
  void begin() { ++traversal_; }
  // The value's number. If it has none yet, gives it the number `next` and returns true.
  std::pair<size_t, bool> of(ValueId v, size_t next) {
    Entry& e = of_[index_of(v)];
    const bool is_new = std::exchange(e.traversal, traversal_) != traversal_;
    if (is_new) e.number = next;
    return {e.number, is_new};
  }

 private:
  struct Entry {
    int64_t traversal = 0;
    size_t number = 0;
  };
  std::vector<Entry> of_;  // by ValueId index
  int64_t traversal_ = 0;
};

// Writes the expression that computes a bundle's next values, with numbers in the place of names. Equal texts mean
// equal update rules. For %a.next = sub(%a, mul(%a.grad, broadcast(%lr))), where %lr is value 7 of the graph:
//
//   s0 = (sub s0 (mul g0:f32 b7)); param f32;
//
// A leaf that is drawn, g1:f32d9 where it is value 9, is one parameter's: drawn in one array, all would be other
// numbers. s0 is the first state, g0 the first leaf, b7 a broadcast of value 7, c... a constant, #0 a step written
// before.
class SignatureWriter {
 public:
  SignatureWriter(const Graph& g, const std::vector<UpdatePart>& parts, Numbers& numbers)
      : g_(g), parts_(parts), numbers_(numbers) {
    numbers_.begin();
  }

  Values states, leaves;

  // Appends the expression of the value.
  void write(ValueId v, std::string& out) {
    const Node* n = g_.def(v);
    switch (parts_[static_cast<size_t>(v.index)]) {
      case UpdatePart::state: return append(out, 's', slot(v));
      case UpdatePart::constant: out += 'c' + to_string(Attr(n->op->traits.splat(*n))) + ':' + dtype(v); return;
      case UpdatePart::scalar: return append(out, 'b', index_of(n->operands[0]));
      case UpdatePart::leaf:
        append(out, 'g', number(leaves, v));
        out += ':' + dtype(v);
        if (n != nullptr && std::holds_alternative<Source>(n->op->kind)) append(out, 'd', index_of(v));
        return;
      case UpdatePart::step: break;
    }
    const auto [step, is_new] = numbers_.of(v, steps_);
    if (!is_new) return append(out, '#', step);
    ++steps_;
    out += '(';
    write_step(*n, out);
    out += ')';
  }
  void write_step(const Node& n, std::string& out) {
    out += n.op->name;
    for (const auto& [name, value] : n.attrs) out += ' ' + name + '=' + to_string(value);
    for (const ValueId operand : n.operands) {
      out += ' ';
      write(operand, out);
    }
  }
  size_t slot(ValueId v) { return number(states, v); }
  std::string dtype(ValueId v) const { return to_string(g_[v].type.dtype); }

 private:
  static void append(std::string& out, char kind, size_t number) {
    out += kind;
    out += std::to_string(number);
  }
  size_t number(Values& list, ValueId v) {
    const auto [number, is_new] = numbers_.of(v, list.size());
    if (is_new) list.push_back(v);
    return number;
  }

  const Graph& g_;
  const std::vector<UpdatePart>& parts_;
  Numbers& numbers_;  // one number per value, whether it is a state, a leaf or a step
  size_t steps_ = 0;
};

class Finder {
 public:
  Finder(const Graph& g, const std::vector<UpdatePart>& parts, Numbers& numbers)
      : g_(g), parts_(parts), numbers_(numbers), parent_(g.value_count()) {
    std::iota(parent_.begin(), parent_.end(), size_t{0});
    for (const Update& u : g.updates) {
      below_.push_back(part(u.next) == UpdatePart::step ? states_below(u.next) : Values{});
      for (ValueId s : below_.back()) parent_[std::max(root(s), root(u.state))] = std::min(root(s), root(u.state));
    }
  }

  std::vector<UpdateBundle> run() {
    std::vector<size_t> order;
    std::map<size_t, std::vector<Update>> tied;
    std::set<size_t> apart;  // roots of states with an update that does not depend on their old values
    for (size_t i = 0; i < g_.updates.size(); ++i) {
      const Update& u = g_.updates[i];
      const size_t r = root(u.state);
      if (!tied.count(r)) order.push_back(r);
      tied[r].push_back(u);
      if (!updates_itself(u, below_[i])) apart.insert(r);
    }
    std::vector<UpdateBundle> bundles;
    for (const size_t r : order) {
      if (apart.count(r)) continue;
      UpdateBundle bundle = make_bundle(tied[r]);
      const auto is_param = [&](ValueId s) { return g_[s].role == Role::param; };
      if (std::any_of(bundle.states.begin(), bundle.states.end(), is_param)) bundles.push_back(std::move(bundle));
    }
    return bundles;
  }

 private:
  UpdatePart part(ValueId v) const { return parts_[static_cast<size_t>(v.index)]; }

  // The root of the states that updates connect (union-find with path compression).
  size_t root(ValueId v) {
    auto i = static_cast<size_t>(v.index);
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }

  Values states_below(ValueId next) {
    numbers_.begin();
    Values states, open{next};
    while (!open.empty()) {
      const ValueId v = open.back();
      open.pop_back();
      if (!numbers_.of(v, 0).second) continue;
      if (part(v) == UpdatePart::state) states.push_back(v);
      if (part(v) != UpdatePart::step) continue;
      const Values& operands = g_.def(v)->operands;
      open.insert(open.end(), operands.begin(), operands.end());
    }
    return states;
  }

  // Whether the next value depends on the old one, element by element.
  bool updates_itself(const Update& u, const Values& states) const {
    const Type& type = g_[u.state].type;
    if (!is_floating(type.dtype) || type.rank() == 0 || part(u.next) != UpdatePart::step) return false;
    return std::find(states.begin(), states.end(), u.state) != states.end();
  }

  UpdateBundle make_bundle(const std::vector<Update>& updates) const {
    SignatureWriter writer(g_, parts_, numbers_);
    UpdateBundle bundle;
    for (const Update& u : updates) {
      bundle.signature += 's' + std::to_string(writer.slot(u.state)) + " = ";
      writer.write(u.next, bundle.signature);
      bundle.signature += "; ";
    }
    bundle.next.resize(writer.states.size());
    for (const Update& u : updates) bundle.next[writer.slot(u.state)] = u.next;
    for (ValueId s : writer.states) bundle.signature += fmt::format("{} {}; ", to_string(g_[s].role), writer.dtype(s));
    bundle.states = writer.states;
    bundle.leaves = writer.leaves;
    return bundle;
  }

  const Graph& g_;
  const std::vector<UpdatePart>& parts_;
  Numbers& numbers_;
  std::vector<size_t> parent_;  // by ValueId index
  std::vector<Values> below_;   // by update: the states from which its next value is computed
};

std::vector<UpdatePart> initial_parts(const Graph& g) {
  std::vector<UpdatePart> parts(g.value_count(), UpdatePart::leaf);
  for (ValueId v : g.inputs)
    if (is_state(g[v]) && is_floating(g[v].type.dtype)) parts[static_cast<size_t>(v.index)] = UpdatePart::state;
  std::vector<int> depth(g.value_count(), 0);  // of a step: the length of the chain of steps up to it
  for (NodeId id : g.order) {
    if (g[id].results.size() != 1) continue;
    const auto i = static_cast<size_t>(g[id].results[0].index);
    parts[i] = part_of(g, g[id], parts);
    if (parts[i] != UpdatePart::step) continue;
    for (ValueId v : g[id].operands) depth[i] = std::max(depth[i], depth[static_cast<size_t>(v.index)] + 1);
    if (depth[i] <= kLongestRule) continue;
    parts[i] = UpdatePart::leaf;
    depth[i] = 0;
  }
  return parts;
}

std::vector<std::vector<UpdateBundle>> by_signature(std::vector<UpdateBundle> bundles) {
  std::vector<std::vector<UpdateBundle>> sets;
  std::map<std::string, size_t> seen;
  for (UpdateBundle& bundle : bundles) {
    const auto [at, is_new] = seen.emplace(bundle.signature, sets.size());
    if (is_new) sets.emplace_back();
    sets[at->second].push_back(std::move(bundle));
  }
  return sets;
}

// An elementwise operator on one leaf and constants, as text; empty for any other node. Casts are excluded: if a
// product is only cast to f32, widen_products makes it an f32 product, and this must not depend on the groups of its
// parameter.
std::string step_on_leaf(const Graph& g, const std::vector<UpdatePart>& parts, ValueId v, Numbers& numbers) {
  const Node* n = g.def(v);
  if (n == nullptr || !std::holds_alternative<Elementwise>(n->op->kind) || n->op->traits.converts) return {};
  SignatureWriter writer(g, parts, numbers);
  std::string text;
  writer.write_step(*n, text);
  return writer.leaves.size() == 1 && writer.states.empty() ? text : std::string();
}

// If all bundles of the set apply the same operator to their k-th leaf, adds it to the update.
bool promote(const Graph& g, std::vector<UpdatePart>& parts, const std::vector<UpdateBundle>& set, size_t k,
             Numbers& numbers) {
  const std::string step = step_on_leaf(g, parts, set[0].leaves[k], numbers);
  if (step.empty()) return false;
  for (const UpdateBundle& bundle : set)
    if (step_on_leaf(g, parts, bundle.leaves[k], numbers) != step) return false;
  for (const UpdateBundle& bundle : set) parts[static_cast<size_t>(bundle.leaves[k].index)] = UpdatePart::step;
  return true;
}

}  // namespace

UpdatePatterns update_patterns(const Graph& g) {
  UpdatePatterns p{{}, initial_parts(g)};
  Numbers numbers(g.value_count());
  bool again = true;
  for (int round = 0; again && round <= kMostPromotions; ++round) {
    again = false;
    p.sets = by_signature(Finder(g, p.parts, numbers).run());
    for (const std::vector<UpdateBundle>& set : p.sets)
      for (size_t k = 0; k < set[0].leaves.size() && set.size() > 1 && round < kMostPromotions; ++k)
        again |= promote(g, p.parts, set, k, numbers);
  }
  return p;
}

}  // namespace heddle::passes
