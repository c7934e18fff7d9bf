#include "passes/fuse/groups.h"

#include <fmt/format.h>

#include "ir/op_def.h"
#include "passes/fuse/form.h"

namespace heddle::passes {

using namespace ir;

Groups::Groups(const Graph& g, const Target& target) : g_(g), target_(target), fates_(decide_fates(g, target)) {
  of_.assign(g.node_count(), -1);
  for (NodeId n : g.order) {
    bool fixed = fates_(n) == Fate::fixed;
    if (!fixed && !fates_.roots_group(n)) continue;
    of_[static_cast<size_t>(n.index)] = static_cast<int>(groups_.size());
    Group group;
    group.owned = {n};
    group.fixed = fixed;
    group.part = fates_.part[static_cast<size_t>(n.index)] != 0;
    groups_.push_back(std::move(group));
  }
  for (Group& group : groups_) {
    if (group.fixed) continue;
    std::string reason = fill(group);
    const Node& n = g_[group.owned[0]];
    if (!reason.empty()) throw UserError(n.loc, fmt::format("{}: no kernel can execute this: {}", n.op->name, reason));
  }
  connect();
}

void Groups::connect() {
  preds_.resize(groups_.size());
  succs_.resize(groups_.size());
  // By NodeId index: the groups that a copied node's or view's result comes from.
  std::vector<std::set<int>> sources(g_.node_count());
  for (NodeId n : g_.order) {
    std::set<int> from;
    for (ValueId v : g_[n].operands) {
      NodeId def = g_[v].def;
      if (!def.valid()) continue;
      if (fates_(def) == Fate::anchor || fates_(def) == Fate::fixed)
        from.insert(of(def));
      else
        from.insert(sources[static_cast<size_t>(def.index)].begin(), sources[static_cast<size_t>(def.index)].end());
      // A fixed node and a view read what is in memory.
      if (fates_.roots_group(def) && (fates_(n) == Fate::fixed || fates_(n) == Fate::view)) from.insert(of(def));
    }
    int self = of(n);
    if (self >= 0)
      for (int p : from)
        if (p != self) {
          preds_[static_cast<size_t>(self)].insert(p);
          succs_[static_cast<size_t>(p)].insert(self);
        }
    sources[static_cast<size_t>(n.index)] = std::move(from);
  }
}

Members Groups::members(const std::vector<NodeId>& owned) const {
  Members members{members_of(g_, fates_, owned)};
  std::set<NodeId> own(owned.begin(), owned.end());
  for (NodeId n : members.nodes)
    if (!own.count(n)) members.copied.insert(n);
  return members;
}

std::string Groups::fill(Group& group) const {
  Extract e = extract(g_, members(group.owned));
  std::string reason = choose_form(e.kernel, target_);
  if (!reason.empty()) return reason;
  group.rows = e.kernel.form->rows();
  group.columns = e.kernel.form->columns();
  group.points = group.rows * group.columns;
  note_traffic(group, std::move(e));
  const Type& shape = g_[g_[group.owned[0]].results[0]].type;
  group.plain = std::all_of(group.owned.begin(), group.owned.end(), [&](NodeId n) {
    return std::holds_alternative<Elementwise>(g_[n].op->kind) && g_[g_[n].results[0]].type.dims == shape.dims;
  });
  return {};
}

void Groups::note_traffic(Group& group, Extract&& e) const {
  group.cost = kernel_cost(e.kernel, target_);
  group.size = e.kernel.order.size();
  group.reads = std::move(e.operands);
  group.writes = std::move(e.results);
  std::sort(group.reads.begin(), group.reads.end());
  std::sort(group.writes.begin(), group.writes.end());
}

bool Groups::path_between(int a, int b) const {
  std::vector<char> seen(groups_.size(), 0);
  std::vector<int> stack;
  for (int next : succs_[static_cast<size_t>(a)])
    if (next != b) stack.push_back(next);
  while (!stack.empty()) {
    int i = stack.back();
    stack.pop_back();
    if (i == b) return true;
    if (seen[static_cast<size_t>(i)]) continue;
    seen[static_cast<size_t>(i)] = 1;
    stack.insert(stack.end(), succs_[static_cast<size_t>(i)].begin(), succs_[static_cast<size_t>(i)].end());
  }
  return false;
}

Groups::Candidate Groups::candidate(int a, int b) const {
  Candidate c;
  c.group.owned = (*this)[a].owned;
  c.group.owned.insert(c.group.owned.end(), (*this)[b].owned.begin(), (*this)[b].owned.end());
  const Group &x = (*this)[a], &y = (*this)[b];
  if (x.plain && y.plain && x.points == y.points && g_[x.writes[0]].type.dims == g_[y.writes[0]].type.dims) {
    c.group.plain = true;
    c.group.rows = x.rows;
    c.group.columns = x.columns;
    c.group.points = x.points;
    note_traffic(c.group, extract(g_, members(c.group.owned)));
  } else {
    c.reason = fill(c.group);
  }
  return c;
}

void Groups::merge(int a, int b, Group&& merged) {
  for (NodeId n : groups_[static_cast<size_t>(b)].owned) of_[static_cast<size_t>(n.index)] = a;
  groups_[static_cast<size_t>(b)] = {};
  groups_[static_cast<size_t>(b)].alive = false;
  groups_[static_cast<size_t>(a)] = std::move(merged);
  auto redirect = [&](std::vector<std::set<int>>& forth, std::vector<std::set<int>>& back) {
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
