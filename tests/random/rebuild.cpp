#include "tests/random/rebuild.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/builder.h"
#include "ir/scan.h"
#include "ir/verify/verify.h"

namespace heddle::testing {
using namespace ir;
namespace {

class Rebuild {
 public:
  Rebuild(const Module& made, const Graph& from, const Edit& edit, bool mine)
      : made_(made), from_(from), edit_(edit), mine_(mine), b_(to_) {
    to_.name = from.name;
    to_.body = from.body;
    live_.resize(from.value_count(), 0);
  }

  Graph run() {
    for (size_t i = 0; i < from_.outputs.size(); ++i)
      if (!mine_ || !edit_.outputs.count(i)) mark(from_.outputs[i]);
    for (size_t i = 0; i < from_.updates.size(); ++i) {
      if (mine_ && edit_.updates.count(i)) continue;
      mark(from_.updates[i].state);
      mark(from_.updates[i].next);
      updated_.insert(from_.updates[i].state);
    }
    mark_operands();
    build();
    return std::move(to_);
  }

 private:
  ValueId source(ValueId v) const {
    if (!mine_) return v;
    for (auto it = edit_.replace.find(v); it != edit_.replace.end(); it = edit_.replace.find(v)) v = it->second;
    return v;
  }
  char& live(ValueId v) { return live_[static_cast<size_t>(v.index)]; }
  void mark(ValueId v) { live(source(v)) = 1; }
  bool is_cut(ValueId v) const { return mine_ && edit_.cut.count(v) != 0; }
  bool needed(const Node& n) {
    return std::any_of(n.results.begin(), n.results.end(), [&](ValueId r) { return live(r) && !is_cut(r); });
  }

  void mark_operands() {
    for (auto it = from_.order.rbegin(); it != from_.order.rend(); ++it)
      if (needed(from_[*it]))
        for (const ValueId v : from_[*it].operands) mark(v);
  }

  Dims resized(Dims dims) const {
    for (int64_t& d : dims)
      if (const auto it = edit_.sizes.find(d); it != edit_.sizes.end()) d = it->second;
    return dims;
  }

  void add_input(ValueId v, Role role) {
    std::string name = from_[v].name;
    const bool stays = from_.body || role == Role::input || updated_.count(v) || !edit_.stateless;
    if (edit_.plain && !from_.body) name = name.substr(0, name.find('.')) + ".plain";
    inner_[v] = to_.add_input(name, {from_[v].type.dtype, resized(from_[v].type.dims)}, stays ? role : Role::input);
  }

  // Sizes may stand in a list of the attributes, or not: what gives the expected sizes is taken first.
  Values apply(const Node& n, const Values& operands) {
    std::vector<Type> types, wanted;
    for (const ValueId v : operands) types.push_back(to_[v].type);
    if (is_scan(n)) return scan(n, operands, types);
    for (const ValueId r : n.results) wanted.push_back({from_[r].type.dtype, resized(from_[r].type.dims)});
    std::optional<Attrs> legal;
    for (int which = -2; which < static_cast<int>(n.attrs.size()); ++which) {
      Attrs attrs = n.attrs;
      int i = 0;
      for (auto& [name, value] : attrs)
        if (auto* list = std::get_if<Dims>(&value); list && (which == -1 || which == i++)) *list = resized(*list);
      try {
        const bool expected = infer_types(*n.op, types, attrs) == wanted;
        if (!legal || expected) legal = attrs;
        if (expected) break;
      } catch (const InferError&) {
        continue;
      }
    }
    std::vector<std::string> names;
    for (const ValueId r : n.results) names.push_back(from_[r].name);
    return b_.multi(n.op->name, operands, legal.value_or(n.attrs), names);
  }

  // The number of turns is a size like others.
  Values scan(const Node& n, const Values& operands, const std::vector<Type>& types) {
    const Graph& body = *made_.find_body(n.callee);
    const Attrs attrs = scan_attrs(resized({turns(n)})[0], is_reversed(n));
    scan_types(made_, body, types, attrs);
    std::vector<std::string> names;
    for (const ValueId r : n.results) names.push_back(from_[r].name);
    return to_[add_scan(to_, body, operands, attrs, names, {})].results;
  }

  void build() {
    for (const ValueId v : from_.inputs)
      if (live(v) || from_.body) add_input(v, from_[v].role);
    for (const NodeId id : from_.order)
      for (const ValueId r : from_[id].results)
        if (live(r) && is_cut(r)) add_input(r, Role::input);
    for (const NodeId id : from_.order) {
      const Node& n = from_[id];
      if (!needed(n)) continue;
      Values operands;
      for (const ValueId v : n.operands) operands.push_back(inner_.at(source(v)));
      const Values results = apply(n, operands);
      for (size_t i = 0; i < results.size(); ++i)
        if (!is_cut(n.results[i])) inner_[n.results[i]] = results[i];
    }
    for (size_t i = 0; i < from_.outputs.size(); ++i)
      if (!mine_ || !edit_.outputs.count(i)) to_.outputs.push_back(inner_.at(source(from_.outputs[i])));
    for (size_t i = 0; i < from_.updates.size(); ++i) {
      const Update& u = from_.updates[i];
      if (!mine_ || !edit_.updates.count(i)) to_.updates.push_back({inner_.at(u.state), inner_.at(source(u.next))});
    }
  }

  const Module& made_;  // the bodies so far
  const Graph& from_;
  const Edit& edit_;
  bool mine_;
  Graph to_;
  Builder b_;
  std::vector<char> live_;
  std::set<ValueId> updated_;
  std::map<ValueId, ValueId> inner_;
};

void drop_unscanned(Module& m) {
  for (size_t i = m.bodies.size(); i-- > 0;) {
    bool scanned = false;
    for (const Graph* g : m.all_graphs())
      scanned |=
          std::any_of(g->order.begin(), g->order.end(), [&](NodeId n) { return (*g)[n].callee == m.bodies[i].name; });
    if (!scanned) m.bodies.erase(m.bodies.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

}  // namespace

std::optional<Module> rebuild(const Module& m, const Edit& edit) {
  Module made;
  try {
    for (size_t i = 0; i < m.bodies.size(); ++i)
      made.bodies.push_back(
          Rebuild(made, m.bodies[i], edit, static_cast<int>(m.graphs.size() + i) == edit.graph).run());
    for (size_t i = 0; i < m.graphs.size(); ++i) {
      const bool mine = static_cast<int>(i) == edit.graph;
      if (!mine || !edit.leave_out) made.graphs.push_back(Rebuild(made, m.graphs[i], edit, mine).run());
    }
    drop_unscanned(made);
    if (made.graphs.empty() || !verify(made).empty()) return {};
  } catch (const UserError&) {
    return {};
  } catch (const InferError&) {
    return {};
  } catch (const std::out_of_range&) {  // a replaced value is defined later than its reader
    return {};
  }
  return made;
}

}  // namespace heddle::testing
