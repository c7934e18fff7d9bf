#include "passes/of_parameters.h"

#include <algorithm>

#include "ir/visit.h"

namespace heddle::passes {
using namespace ir;

namespace {

bool is_state(Role role) { return role == Role::param || role == Role::buffer; }

// Whether the operator's kind belongs to the graph itself: gradient, call or scan.
bool is_of_graph(const OpDef& op) {
  return visit_kind(
      op,
      [](const OneOf<Source, Elementwise, Movement, Lookup, Reduction, Contraction, Primitive, Composite> auto&) {
        return false;
      },
      [](const OneOf<Gradient, Call, Scan> auto&) { return true; });
}

}  // namespace

OfParameters::OfParameters(const Module& m, const Graph& g) : g_(g) {
  for (const Graph& other : m.graphs)
    for (const Update& update : other.updates)
      if (other.kind().phase != Phase::init && is_state(other[update.state].role))
        renewed_.insert(other[update.state].name);
  for (const StateGroup& group : m.groups)
    if (renewed_.contains(group.name))
      for (const StateMember& member : group.members) renewed_.insert(member.name);
  made_.resize(g.value_count(), Made::of_rows);
  for (const ValueId v : g.inputs) made_[index_of(v)] = made(g[v]);
  for (const NodeId n : g.order) see(n);
  seen_ = g.node_count();
}

OfParameters::Made OfParameters::made(const Value& input) const {
  return is_state(input.role) && !renewed_.contains(input.name) ? Made::of_parameters : Made::of_rows;
}

OfParameters::Made OfParameters::made(const Node& n) const {
  if (is_of_graph(*n.op)) return Made::of_rows;
  Made all = Made::of_nothing;
  for (const ValueId v : n.operands) {
    if (made_[index_of(v)] == Made::of_rows) return Made::of_rows;
    all = std::max(all, made_[index_of(v)]);
  }
  return all;
}

void OfParameters::see(NodeId id) {
  const Made all = made(g_[id]);
  for (const ValueId v : g_[id].results) made_[index_of(v)] = all;
}

// Visits the nodes added since the last call. Their ids ascend in the order of building, so operands come first.
void OfParameters::grow() {
  made_.resize(g_.value_count(), Made::of_rows);
  for (; seen_ < g_.node_count(); ++seen_)
    if (const NodeId id{static_cast<int32_t>(seen_)}; !g_[id].erased) see(id);
}

OfParameters::Made OfParameters::at(ValueId v) {
  if (index_of(v) >= made_.size()) grow();
  return made_[index_of(v)];
}

}  // namespace heddle::passes
