#include "passes/fuse/groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ir/op_def.h"
#include "passes/fuse/choose_schedule.h"
#include "passes/memory/in_place.h"

namespace heddle::passes {

using namespace ir;

namespace {

// One group for each node that roots one, in program order; `of` by NodeId index.
std::vector<Group> initial_groups(const Graph& g, const FusionRoles& roles, std::vector<int>& of) {
  std::vector<Group> groups;
  of.assign(g.node_count(), -1);
  for (NodeId n : g.order) {
    const bool fixed = roles(n) == FusionRole::fixed;
    if (!fixed && !roles.roots_group(n)) continue;
    of[static_cast<size_t>(n.index)] = static_cast<int>(groups.size());
    Group& group = groups.emplace_back();
    group.owned = {n};
    group.fixed = fixed;
    group.part = roles.part[static_cast<size_t>(n.index)] != 0;
  }
  return groups;
}

void set_traffic(Group& group, Sketch&& sketch, const Cost& cost) {
  group.cost = cost;
  group.size = sketch.nodes.size();
  group.reads = std::move(sketch.operands);
  group.writes = std::move(sketch.results);
  std::sort(group.reads.begin(), group.reads.end());
  std::sort(group.writes.begin(), group.writes.end());
}

}  // namespace

Groups::Groups(const Graph& g, Shared& shared, bool exact)
    : g_(g),
      shared_(shared),
      exact_(exact),
      roles_(decide_roles(g, shared.assessor.target())),
      sketcher_(g, roles_, shared.words),
      groups_(initial_groups(g, roles_, of_)),
      order_(count()) {
  for (Group& group : groups_) {
    if (group.fixed) continue;
    std::string reason = fill(group);
    const Node& n = g_[group.owned[0]];
    if (!reason.empty()) throw UserError(n.loc, fmt::format("{}: no kernel can execute this: {}", n.op->name, reason));
  }
  connect();
  order_updates();
}

// The groups that read one of `values`, directly or through copied nodes and views. Uses by `except` do not count.
std::set<int> Groups::readers_through_copies(const std::vector<ValueId>& values, NodeId except) const {
  std::set<int> readers;
  std::vector<char> seen(g_.node_count(), 0);
  std::vector<ValueId> open = values;
  while (!open.empty()) {
    const ValueId v = open.back();
    open.pop_back();
    for (NodeId use : g_[v].uses) {
      if (use == except || std::exchange(seen[index_of(use)], 1)) continue;
      if (of(use) >= 0) readers.insert(of(use));
      if (roles_(use) == FusionRole::copied || roles_(use) == FusionRole::view)
        open.insert(open.end(), g_[use].results.begin(), g_[use].results.end());
    }
  }
  return readers;
}

bool Groups::needed_beside(ValueId v, int a, int b) const {
  constexpr size_t kMost = 64;  // a value with more uses is assumed to have other readers
  std::vector<ValueId> open = {v};
  for (size_t looked = 0; !open.empty();) {
    const ValueId next = open.back();
    open.pop_back();
    if (g_.is_output(next) || g_.is_next(next)) return true;
    for (const NodeId use : g_[next].uses) {
      if (++looked > kMost || (of(use) >= 0 && of(use) != a && of(use) != b)) return true;
      if (of(use) < 0) open.insert(open.end(), g_[use].results.begin(), g_[use].results.end());
    }
  }
  return false;
}

// Orders the updates of scalar states with several readers, such as the step number that dropout reads. The group of
// the next value runs after all readers of the old value and before all readers of the next one, so it can overwrite
// the state. If it were merged with an earlier kernel, the next value would have to be copied later, which takes as
// long as a launch.
void Groups::order_updates() {
  for (const Update& u : g_.updates) {
    const NodeId def = g_[u.next].def;
    if (!g_[u.state].type.dims.empty() || !def.valid() || of(def) < 0) continue;
    const int next = of(def);
    const std::set<int> before = readers_through_copies({u.state}, def);
    const std::set<int> behind = readers_through_copies(g_[def].results, {});
    // Adds the constraint only if program order already satisfies it.
    if (before.empty() || *before.rbegin() >= next || (!behind.empty() && *behind.begin() <= next)) continue;
    for (int reader : before) precede(reader, next);
    for (int reader : behind) precede(next, reader);
    groups_[static_cast<size_t>(next)].renews.insert(u.state);
    for (const auto* readers : {&before, &behind})
      for (int reader : *readers) groups_[static_cast<size_t>(reader)].follows.insert(u.state);
  }
}

void Groups::precede(int first, int second) {
  succs_[static_cast<size_t>(first)].insert(second);
  preds_[static_cast<size_t>(second)].insert(first);
}

void Groups::connect() {
  preds_.resize(groups_.size());
  succs_.resize(groups_.size());
  // By NodeId index: the groups from which the result of a copied node or view is computed.
  std::vector<std::set<int>> sources(g_.node_count());
  for (NodeId n : g_.order) {
    std::set<int> from;
    for (ValueId v : g_[n].operands) {
      NodeId def = g_[v].def;
      if (!def.valid()) continue;
      if (roles_(def) == FusionRole::anchor || roles_(def) == FusionRole::fixed)
        from.insert(of(def));
      else
        from.insert(sources[static_cast<size_t>(def.index)].begin(), sources[static_cast<size_t>(def.index)].end());
      // A fixed node or a view reads the stored result, so it also depends on the group that stores it.
      if (roles_.roots_group(def) && (roles_(n) == FusionRole::fixed || roles_(n) == FusionRole::view))
        from.insert(of(def));
    }
    int self = of(n);
    if (self >= 0)
      for (int p : from)
        if (p != self) precede(p, self);
    sources[static_cast<size_t>(n.index)] = std::move(from);
  }
}

std::string Groups::fill(Group& group) {
  Sketch s = sketch(group);
  const Assessment& a = shared_.assessor.assess(g_, s);
  if (!a.reason.empty()) {
    if (!exact_) return a.reason;
    Graph kernel = extract(g_, s.nodes, s.results).kernel;
    return choose_schedule(kernel, shared_.assessor.target()).reason;
  }
  const schedules::OverDomain& schedule = *over_domain(*a.schedule);  // choose_schedule gives no other
  group.rows = schedule.rows();
  group.columns = schedule.columns();
  group.points = group.rows * group.columns;
  group.product = std::holds_alternative<schedules::Product>(a.schedule->how);
  set_traffic(group, std::move(s), a.cost);
  const Type& shape = g_[g_[group.owned[0]].results[0]].type;
  group.plain = std::all_of(group.owned.begin(), group.owned.end(), [&](NodeId n) {
    return std::holds_alternative<Elementwise>(g_[n].op->kind) && g_[g_[n].results[0]].type.dims == shape.dims;
  });
  return {};
}

// Why a kernel of this group could not write the next value of an ordered state over the old one, or "".
std::string Groups::why_copied(const Group& group) {
  const Sketch s = sketch(group);
  Extract e = extract(g_, s.nodes, s.results);
  e.kernel.schedule = shared_.assessor.assess(g_, s).schedule;
  KernelPlans plans;
  for (const Update& u : g_.updates) {
    const auto result = std::find(s.results.begin(), s.results.end(), u.next);
    const auto operand = std::find(e.operands.begin(), e.operands.end(), u.state);
    if (group.renews.count(u.state) == 0 || result == s.results.end() || operand == e.operands.end()) continue;
    if (!kernel_can_write_over(e.kernel, e.kernel.inputs[static_cast<size_t>(operand - e.operands.begin())],
                               e.kernel.outputs[static_cast<size_t>(result - s.results.begin())], plans))
      return fmt::format("%{} could not be updated in place", g_[u.state].name);
  }
  return {};
}

Groups::Candidate Groups::candidate(int a, int b) {
  Candidate c;
  c.group.owned = (*this)[a].owned;
  c.group.owned.insert(c.group.owned.end(), (*this)[b].owned.begin(), (*this)[b].owned.end());
  const Group &x = (*this)[a], &y = (*this)[b];
  for (const auto& [writer, reader] : {std::pair(&x, &y), std::pair(&y, &x)})
    for (const ValueId state : writer->renews)
      if (reader->follows.count(state) != 0)
        c.reason = fmt::format("%{} is updated in place between those that read it", g_[state].name);
  if (!c.reason.empty()) return c;
  for (const Group* from : {&x, &y}) {
    c.group.renews.insert(from->renews.begin(), from->renews.end());
    c.group.follows.insert(from->follows.begin(), from->follows.end());
  }
  if (x.plain && y.plain && x.points == y.points && g_[x.writes[0]].type.dims == g_[y.writes[0]].type.dims) {
    c.group.plain = true;
    c.group.rows = x.rows;
    c.group.columns = x.columns;
    c.group.points = x.points;
    Sketch s = sketch(c.group);
    const Cost& cost = shared_.assessor.plain_cost(g_, s);
    set_traffic(c.group, std::move(s), cost);
  } else {
    c.reason = fill(c.group);
    if (c.reason.empty() && !c.group.renews.empty()) c.reason = why_copied(c.group);
  }
  return c;
}

void Groups::merge(int a, int b, const GroupOrder::Separation& separation, Group&& merged) {
  order_.merge(a, b, separation);
  for (NodeId n : groups_[static_cast<size_t>(b)].owned) of_[static_cast<size_t>(n.index)] = a;
  groups_[static_cast<size_t>(b)] = {};
  groups_[static_cast<size_t>(b)].alive = false;
  groups_[static_cast<size_t>(a)] = std::move(merged);
  auto redirect = [&](Neighbours& forth, Neighbours& back) {
    for (int other : forth[static_cast<size_t>(b)]) {
      back[static_cast<size_t>(other)].erase(b);
      if (other == a) continue;
      back[static_cast<size_t>(other)].insert(a);
      forth[static_cast<size_t>(a)].insert(other);
    }
    forth[static_cast<size_t>(b)].clear();
    forth[static_cast<size_t>(a)].erase(b);
  };
  redirect(succs_, preds_);
  redirect(preds_, succs_);
}

}  // namespace heddle::passes
