#include "passes/prepare.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "ir/copy_node.h"
#include "ir/dependencies.h"
#include "ir/visit.h"
#include "passes/dead_code.h"
#include "passes/of_parameters.h"

namespace heddle::passes {
using namespace ir;

namespace {

// Whether the node does more than move or convert elements. Moves and conversions fuse with their readers, so there is
// nothing to gain.
bool computes(const Node& n) {
  return visit_kind(
      *n.op, [](const Source&) { return false; }, [&](const Elementwise&) { return !n.op->traits.converts; },
      [&](const Movement&) { return n.operands.size() > 1; },
      [](const OneOf<Lookup, Reduction, Contraction, Primitive, Composite> auto&) { return true; },
      [](const OneOf<Gradient, Call, Scan> auto&) { return false; });
}

template <class Kind>
bool is(const Node& n) {
  return std::holds_alternative<Kind>(n.op->kind);
}

class Preparing {
 public:
  Preparing(const Module& m, Graph& g) : g_(g), of_parameters_(m, g), chosen_(g.value_count(), 0) {}

  std::vector<ValueId> choose() {
    for (const NodeId id : g_.order) {
      const Node& n = g_[id];
      if (of_parameters_.is_fixed(n.results[0])) continue;
      for (size_t i = 0; i < n.operands.size(); ++i) consider(n.operands[i], i == 0 && is<Lookup>(n));
    }
    std::vector<ValueId> all;
    for (const NodeId id : g_.order)  // in program order
      for (const ValueId v : g_[id].results)
        if (chosen_[index_of(v)] == kChosen) all.push_back(v);
    return all;
  }

 private:
  enum : char { kUnseen, kSeenInPart, kSeen, kChosen };

  // Chooses `v`, or looks for values to choose among its operands. `in_part`: a lookup reads only some elements of `v`,
  // so computing all of them could cost more.
  void consider(ValueId v, bool in_part) {
    const char now = in_part ? kSeenInPart : kSeen;
    const Node* n = g_.def(v);
    if (n == nullptr || !of_parameters_.is_of_parameters(v) || chosen_[index_of(v)] >= now) return;
    chosen_[index_of(v)] = now;
    const bool each = in_part && is<Elementwise>(*n);
    if (computes(*n) && !each && fits(v) && !g_.is_output(v) && !g_.is_next(v)) {
      chosen_[index_of(v)] = kChosen;
      return;
    }
    const bool moves = is<Elementwise>(*n) || is<Movement>(*n);
    for (size_t i = 0; i < n->operands.size(); ++i)
      consider(n->operands[i], is<Lookup>(*n) ? i == 0 : in_part && moves);
  }

  // Whether `v` is not larger than the parameters it is computed from, so that a state for it takes no more memory or
  // time to read.
  bool fits(ValueId v) const {
    const std::vector<char> reached = dependencies(g_, {v});
    int64_t elements = 0;
    for (const ValueId input : g_.inputs)
      if (reached[index_of(input)] != 0) elements += g_[input].type.elements();
    return g_[v].type.elements() <= elements;
  }

  Graph& g_;
  OfParameters of_parameters_;
  std::vector<char> chosen_;  // by ValueId index
};

// Builds the graph @prepare, which computes `values` and stores each in a state. Adds the states to `g` and to
// `states`.
Graph prepare_graph(Graph& g, const std::vector<ValueId>& values, std::vector<ValueId>& states) {
  Graph made;
  made.name = kPrepare;
  const std::vector<char> reached = dependencies(g, values);
  std::map<ValueId, ValueId> copies;
  for (const ValueId v : g.inputs)
    if (reached[index_of(v)] != 0) copies[v] = made.add_input(g[v].name, g[v].type, g[v].role, g[v].layout);
  for (const ValueId v : values) {
    states.push_back(g.add_input(g[v].name + ".prepared", g[v].type, Role::state));
    made.add_input(g[states.back()].name, g[v].type, Role::state);
  }
  for (const NodeId id : g.order) {
    const Node& n = g[id];
    if (std::ranges::none_of(n.results, [&](ValueId v) { return reached[index_of(v)] != 0; })) continue;
    std::vector<ValueId> operands;
    for (const ValueId v : n.operands) operands.push_back(copies.at(v));
    const std::vector<ValueId> results = made[copy_node(made, g, n, operands)].results;
    for (size_t i = 0; i < results.size(); ++i) copies[n.results[i]] = results[i];
  }
  for (size_t i = 0; i < values.size(); ++i)
    made.updates.push_back({made.find(g[states[i]].name), copies.at(values[i])});
  return made;
}

}  // namespace

bool prepare(Module& m, const Options& options) {
  Graph* g = m.find_graph(EntryKind{.phase = Phase::predict});
  if (!options.prepare || g == nullptr || m.find_graph(kPrepare) != nullptr) return false;
  const std::vector<ValueId> values = Preparing(m, *g).choose();
  if (values.empty()) return false;
  std::vector<ValueId> states;
  Graph made = prepare_graph(*g, values, states);
  for (size_t i = 0; i < values.size(); ++i) {
    options.note("prepare", *g, "%" + (*g)[values[i]].name,
                 fmt::format("made of parameters alone: once, when they have been loaded ({})",
                             to_string((*g)[values[i]].type)));
    g->replace_uses(values[i], states[i]);
  }
  remove_dead_nodes(*g);
  m.graphs.push_back(std::move(made));
  return true;
}

}  // namespace heddle::passes
