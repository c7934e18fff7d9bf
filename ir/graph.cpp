#include "ir/graph.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/check.h"
#include "ir/op_def.h"

namespace heddle::ir {

std::string to_string(Role role) {
  switch (role) {
    case Role::none: return "";
    case Role::input: return "input";
    case Role::param: return "param";
    case Role::buffer: return "buffer";
    case Role::state: return "state";
    case Role::cursor: return "cursor";
    case Role::ring: return "ring";
    case Role::fixed: return "fixed";
    case Role::carry: return "carry";
    case Role::slice: return "slice";
    case Role::index: return "index";
  }
  return "";
}

std::string Graph::take_name(const std::string& base, ValueId value) {
  std::string name = base;
  if (find(name).valid())
    for (int& suffix = next_suffix_[base]; find(name).valid();) name = fmt::format("{}.{}", base, ++suffix);
  names_.insert(NameTable::hash_of(name), value.index);
  return name;
}

void Graph::give_back(const std::string& name) { names_.erase(NameTable::hash_of(name), is_called(name)); }

ValueId Graph::add_input(const std::string& wish, Type type, Role role, Layout layout) {
  const ValueId id{static_cast<int32_t>(values_.size())};
  Value v;
  v.name = take_name(wish, id);
  v.type = std::move(type);
  v.role = role;
  v.layout = std::move(layout);
  values_.push_back(std::move(v));
  inputs.push_back(id);
  return id;
}

NodeId Graph::add_node(const OpDef& op, std::vector<ValueId> operands, Attrs attrs,
                       const std::vector<std::string>& names, const std::vector<Type>& types, const Location& loc) {
  HEDDLE_CHECK(names.size() == types.size(), "a node needs a name and a type for each result");
  const NodeId id{static_cast<int32_t>(nodes_.size())};
  Node n;
  n.op = &op;
  n.attrs = std::move(attrs);
  n.loc = loc;
  for (const ValueId v : operands) (*this)[v].uses.push_back(id);
  n.operands = std::move(operands);
  for (size_t i = 0; i < types.size(); ++i) {
    const ValueId r{static_cast<int32_t>(values_.size())};
    Value v;
    v.name = take_name(names[i], r);
    v.type = types[i];
    v.def = id;
    v.result_index = static_cast<int32_t>(i);
    values_.push_back(std::move(v));
    n.results.push_back(r);
  }
  nodes_.push_back(std::move(n));
  order.push_back(id);
  return id;
}

namespace {
// Searches from both ends: passes walk a graph from one of them, and a value may have as many uses
// as the graph has nodes.
void remove_one(std::vector<NodeId>& uses, NodeId n) {
  size_t i = 0;
  const size_t last = uses.size() - 1;
  while (i < uses.size() && uses[i] != n && uses[last - i] != n) ++i;
  HEDDLE_CHECK(i < uses.size(), "a use list lacks a use");
  uses.erase(uses.begin() + static_cast<std::ptrdiff_t>(uses[i] == n ? i : last - i));
}
}  // namespace

void Graph::set_operand(NodeId n, size_t i, ValueId v) {
  ValueId& slot = (*this)[n].operands[i];
  if (slot == v) return;
  remove_one((*this)[slot].uses, n);
  slot = v;
  (*this)[v].uses.push_back(n);
}

void Graph::replace_uses(ValueId old, ValueId with) {
  if (old == with) return;
  for (const NodeId n : std::vector<NodeId>((*this)[old].uses))
    for (ValueId& slot : (*this)[n].operands)
      if (slot == old) {
        slot = with;
        (*this)[with].uses.push_back(n);
      }
  (*this)[old].uses.clear();
  std::replace(outputs.begin(), outputs.end(), old, with);
  updates.replace_next(old, with);
}

void Graph::erase(NodeId id) {
  Node& n = (*this)[id];
  for (const ValueId r : n.results) {
    HEDDLE_CHECK(unused(r), fmt::format("%{} is erased but used", (*this)[r].name));
    give_back((*this)[r].name);
  }
  for (const ValueId v : n.operands) remove_one((*this)[v].uses, id);
  n.operands.clear();
  n.erased = true;
  order.erase(std::find(order.begin(), order.end(), id));
}

void Graph::remove_inputs(const std::vector<ValueId>& gone) {
  updates.remove(gone);
  for (const ValueId v : gone) {
    HEDDLE_CHECK(unused(v), fmt::format("input %{} is removed but used", (*this)[v].name));
    give_back((*this)[v].name);
  }
  std::vector<ValueId> sorted = gone;
  std::sort(sorted.begin(), sorted.end());
  std::erase_if(inputs, [&](ValueId v) { return std::binary_search(sorted.begin(), sorted.end(), v); });
}

bool Graph::unused(ValueId v) const { return (*this)[v].uses.empty() && !is_output(v) && !is_next(v); }

NodeId Graph::only_use(ValueId v) const {
  const std::vector<NodeId>& uses = (*this)[v].uses;
  return uses.size() == 1 && !is_output(v) && !is_next(v) ? uses[0] : NodeId{};
}

bool Graph::is_output(ValueId v) const { return std::find(outputs.begin(), outputs.end(), v) != outputs.end(); }

bool Graph::is_next(ValueId v) const { return updates.has_next(v); }

const Node* Graph::def(ValueId v) const {
  const NodeId n = (*this)[v].def;
  return n.valid() ? &(*this)[n] : nullptr;
}

ValueId Graph::find(std::string_view name) const {
  return ValueId{names_.find(NameTable::hash_of(name), is_called(name))};
}

bool Graph::is_found(ValueId v) const {
  const std::string& name = (*this)[v].name;
  const auto leads_there = [&](int i) { return i == v.index || is_called(name)(i); };
  return names_.find(NameTable::hash_of(name), leads_there) == v.index;
}

void Graph::rename(ValueId v, const std::string& base) {
  if ((*this)[v].name == base) return;
  give_back((*this)[v].name);
  (*this)[v].name = take_name(base, v);
}

std::vector<int> Graph::positions() const {
  std::vector<int> at(nodes_.size(), -1);
  for (size_t i = 0; i < order.size(); ++i) at[static_cast<size_t>(order[i].index)] = static_cast<int>(i);
  return at;
}

namespace {
template <class List>
auto* find_named(List& list, std::string_view name) {
  const auto it = std::find_if(list.begin(), list.end(), [&](const Graph& g) { return g.name == name; });
  return it == list.end() ? nullptr : &*it;
}
}  // namespace

std::vector<Graph*> Module::all_graphs() {
  std::vector<Graph*> all;
  for (auto* list : {&bodies, &graphs})
    for (Graph& g : *list) all.push_back(&g);
  return all;
}
std::vector<const Graph*> Module::all_graphs() const {
  std::vector<const Graph*> all;
  for (const auto* list : {&bodies, &graphs})
    for (const Graph& g : *list) all.push_back(&g);
  return all;
}
const Graph* Module::find_kernel(std::string_view name) const { return find_named(kernels, name); }
const Graph* Module::find_body(std::string_view name) const { return find_named(bodies, name); }
const Graph* Module::find_graph(std::string_view name) const { return find_named(graphs, name); }
Graph* Module::find_graph(std::string_view name) { return find_named(graphs, name); }

namespace {

// Compares two graphs value by value in order of appearance; `pairs` maps a's values to b's.
class Comparison {
 public:
  Comparison(const Graph& a, const Graph& b) : a_(a), b_(b), pairs_(a.value_count()) {}

  bool equal() {
    if (a_.name != b_.name || a_.schedule != b_.schedule || a_.body != b_.body || a_.arena_bytes != b_.arena_bytes)
      return false;
    if (a_.scalars != b_.scalars) return false;
    if (a_.order.size() != b_.order.size() || a_.updates.size() != b_.updates.size()) return false;
    if (!declare(a_.inputs, b_.inputs)) return false;
    for (size_t i = 0; i < a_.order.size(); ++i)
      if (!same_node(a_[a_.order[i]], b_[b_.order[i]])) return false;
    for (size_t i = 0; i < a_.updates.size(); ++i)
      if (!same(a_.updates[i].state, b_.updates[i].state) || !same(a_.updates[i].next, b_.updates[i].next))
        return false;
    return same(a_.outputs, b_.outputs) && same_places();
  }

 private:
  bool same(ValueId x, ValueId y) const { return pairs_[static_cast<size_t>(x.index)] == y; }
  bool same(const std::vector<ValueId>& x, const std::vector<ValueId>& y) const {
    return std::equal(x.begin(), x.end(), y.begin(), y.end(), [&](ValueId p, ValueId q) { return same(p, q); });
  }
  bool declare(const std::vector<ValueId>& x, const std::vector<ValueId>& y) {
    if (x.size() != y.size()) return false;
    for (size_t i = 0; i < x.size(); ++i) {
      const Value &p = a_[x[i]], &q = b_[y[i]];
      if (p.name != q.name || p.type != q.type || p.role != q.role || p.layout != q.layout) return false;
      pairs_[static_cast<size_t>(x[i].index)] = y[i];
    }
    return true;
  }
  bool same_node(const Node& x, const Node& y) {
    return x.op == y.op && x.callee == y.callee && ir::same(x.attrs, y.attrs) && same(x.operands, y.operands) &&
           declare(x.results, y.results);
  }
  bool same_places() const {
    for (size_t i = 0; i < pairs_.size(); ++i) {
      if (!pairs_[i].valid()) continue;
      const Place &p = a_[ValueId{static_cast<int32_t>(i)}].place, &q = b_[pairs_[i]].place;
      if (p.offset != q.offset || p.base.valid() != q.base.valid()) return false;
      if (p.base.valid() && !same(p.base, q.base)) return false;
    }
    return true;
  }

  const Graph& a_;
  const Graph& b_;
  std::vector<ValueId> pairs_;
};

}  // namespace

bool structurally_equal(const Graph& a, const Graph& b) { return Comparison(a, b).equal(); }

bool structurally_equal(const Module& a, const Module& b) {
  const auto same = [](const Graph& x, const Graph& y) { return structurally_equal(x, y); };
  return a.groups == b.groups &&
         std::equal(a.kernels.begin(), a.kernels.end(), b.kernels.begin(), b.kernels.end(), same) &&
         std::equal(a.bodies.begin(), a.bodies.end(), b.bodies.begin(), b.bodies.end(), same) &&
         std::equal(a.graphs.begin(), a.graphs.end(), b.graphs.begin(), b.graphs.end(), same);
}

}  // namespace heddle::ir
