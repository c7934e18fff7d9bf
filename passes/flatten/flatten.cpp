#include "passes/flatten/flatten.h"

#include <algorithm>
#include <map>
#include <utility>

#include "ir/builder.h"
#include "ir/check.h"
#include "passes/dead_code.h"
#include "passes/flatten/flat_groups.h"
#include "passes/rewrite.h"
#include "passes/simplify/simplify.h"

namespace heddle::passes {
using namespace ir;

namespace {

// The bundles of a graph by the names of their states. They stay valid while the groups are flattened one after
// another, because no value belongs to two bundles.
class NamedBundles {
 public:
  NamedBundles(const Graph& g, const UpdatePatterns& patterns) {
    for (const std::vector<UpdateBundle>& set : patterns.sets)
      for (const UpdateBundle& bundle : set) {
        std::vector<std::string> names;
        for (ValueId s : bundle.states) names.push_back(g[s].name);
        by_names_.emplace(std::move(names), Entry{&set, &bundle});
      }
  }

  // The bundles of a group in the order of its members; empty if this graph does not update all of them alike.
  std::vector<const UpdateBundle*> of(const FlatGroup& group) const {
    std::vector<const UpdateBundle*> ordered;
    const std::vector<UpdateBundle>* set = nullptr;
    for (const auto& names : group.bundles) {
      const auto found = by_names_.find(names);
      if (found == by_names_.end() || (set != nullptr && set != found->second.set)) return {};
      set = found->second.set;
      ordered.push_back(found->second.bundle);
    }
    if (set == nullptr || set->size() != ordered.size()) return {};
    return ordered;
  }

 private:
  struct Entry {
    const std::vector<UpdateBundle>* set;
    const UpdateBundle* bundle;
  };
  std::map<std::vector<std::string>, Entry> by_names_;
};

// Rewrites one graph for one flat group.
class Flattening {
 public:
  using Bundles = std::vector<const UpdateBundle*>;

  // Adds the flat states first, before other values can take their names.
  Flattening(Graph& g, const FlatGroup& group) : g_(g), group_(group), b_(g) {
    for (const StateGroup& slot : group.slots) flats_.push_back(add_flat(slot));
  }

  // `bundles` are in the order of the group's members; empty if the graph does not update them alike.
  void run(const Bundles& bundles, const std::vector<UpdatePart>& parts) {
    Values next(flats_.size());
    if (!bundles.empty()) next = flat_update(bundles, parts);
    for (size_t k = 0; k < flats_.size(); ++k)
      if (flats_[k].valid()) replace_members(group_.slots[k], flats_[k], next[k]);
  }

 private:
  ValueId add_flat(const StateGroup& slot) {
    const auto present = [&](const StateMember& member) { return g_.find(member.name).valid(); };
    if (std::none_of(slot.members.begin(), slot.members.end(), present)) return {};
    const StateMember& first = slot.members[0];
    const ValueId flat = g_.add_input(slot.name, {first.type.dtype, {group_.elements()}}, first.role);
    HEDDLE_CHECK(g_[flat].name == slot.name, "the name of a flat state is taken");
    return flat;
  }

  ValueId flat(ValueId v) {
    b_.prefix = g_[v].name + ".flat";
    return b_.reshape(v, {g_[v].type.elements()});
  }

  // Joins the k-th leaves of all members end to end, directly behind the node that computes the last of them.
  ValueId flat_leaf(const Bundles& bundles, size_t k) {
    const std::vector<int> position = g_.positions();
    size_t after = 0;
    for (const UpdateBundle* bundle : bundles)
      if (const NodeId def = g_[bundle->leaves[k]].def; def.valid())
        after = std::max(after, static_cast<size_t>(position[static_cast<size_t>(def.index)]) + 1);
    const ValueId leaf = joined_leaves(bundles, k, after);
    norms_of_flat(bundles, k, leaf);
    b_.insert_at = Builder::kEnd;
    return leaf;
  }

  ValueId joined_leaves(const Bundles& bundles, size_t k, size_t place) {
    const BuildBefore here(g_, place);
    Values pieces;
    for (const UpdateBundle* bundle : bundles) pieces.push_back(flat(bundle->leaves[k]));
    const std::string& name = g_[bundles[0]->leaves[k]].name;
    const size_t dot = name.rfind('.');
    return b_("concat", pieces, {{"axis", int64_t{0}}},
              group_.slots[0].name + (dot == std::string::npos ? ".leaf" : name.substr(dot)));
  }

  // squared_norm(a.grad, b.grad) -> squared_norm(params.grad)
  void norms_of_flat(const Bundles& bundles, size_t k, ValueId leaf) {
    for (NodeId id : std::vector<NodeId>(g_[bundles[0]->leaves[k]].uses)) {
      const Node norm = g_[id];
      if (!norm.op->traits.of_one_list) continue;
      std::map<ValueId, int> times;  // how often the norm reads each member's leaf
      for (const UpdateBundle* bundle : bundles) times[bundle->leaves[k]] = 0;
      Values operands{leaf};
      for (const ValueId v : norm.operands) {
        const auto of_member = times.find(v);
        if (of_member == times.end())
          operands.push_back(v);
        else
          ++of_member->second;
      }
      if (times.size() != bundles.size()) continue;
      if (std::any_of(times.begin(), times.end(), [](const auto& t) { return t.second != 1; })) continue;
      b_.insert_at = static_cast<size_t>(g_.positions()[static_cast<size_t>(id.index)]);
      b_.loc = norm.loc;
      const std::string name = g_[norm.results[0]].name;
      const ValueId total = b_(norm.op->name, operands, norm.attrs);
      g_.replace_uses(norm.results[0], total);
      g_.erase(id);
      g_.rename(total, name);
    }
  }

  // Builds the update of the first member with flat values instead of its values. Returns the next values by slot.
  Values flat_update(const Bundles& bundles, const std::vector<UpdatePart>& parts) {
    const UpdateBundle& model = *bundles[0];
    for (size_t k = 0; k < model.leaves.size(); ++k) flat_of_[model.leaves[k]] = flat_leaf(bundles, k);
    for (size_t k = 0; k < model.states.size(); ++k) flat_of_[model.states[k]] = flats_[k];
    Values next(flats_.size());
    for (size_t k = 0; k < flats_.size(); ++k)
      if (model.next[k].valid()) next[k] = flat_value(model.next[k], parts);
    return next;
  }

  ValueId flat_value(ValueId v, const std::vector<UpdatePart>& parts) {
    if (const auto known = flat_of_.find(v); known != flat_of_.end()) return known->second;
    const Node n = *g_.def(v);
    const UpdatePart part = parts[static_cast<size_t>(v.index)];
    Values operands = n.operands;
    if (part == UpdatePart::step)
      for (ValueId& operand : operands) operand = flat_value(operand, parts);
    Attrs attrs = n.attrs;
    if (part != UpdatePart::step) attrs["shape"] = Dims{group_.elements()};  // a constant, or a broadcast of a scalar
    b_.loc = n.loc;
    return flat_of_[v] = b_(n.op->name, operands, attrs, flat_name(g_[v].name));
  }

  // "fc1.weight.next" becomes "params.next".
  std::string flat_name(const std::string& name) const {
    for (size_t k = group_.slots.size(); k-- > 0;) {
      const std::string& member = group_.bundles[0][k];
      if (name.starts_with(member + ".")) return group_.slots[k].name + name.substr(member.size());
    }
    return group_.slots[0].name + ".step";
  }

  // Replaces members by slices of the flat state, and their updates by its update.
  void replace_members(const StateGroup& slot, ValueId flat_state, ValueId next) {
    Values pieces = slice_members(slot, flat_state);  // replaced below by the members' next values, if they have any
    std::map<ValueId, ValueId> next_of;
    for (const Update& u : g_.updates) next_of.emplace(u.state, u.next);
    bool updated = false;
    for (size_t i = 0; i < slot.members.size(); ++i) {
      const auto found = next_of.find(g_.find(slot.members[i].name));
      if (found == next_of.end()) continue;
      pieces[i] = found->second;
      updated = true;
    }
    Values gone;
    for (const StateMember& member : slot.members)
      if (const ValueId old = g_.find(member.name); old.valid()) gone.push_back(old);
    g_.remove_inputs(gone);
    for (const ValueId old : gone) g_.rename(views_.at(g_[old].name), g_[old].name);
    if (!updated) return;
    if (!next.valid()) {
      for (ValueId& piece : pieces) piece = flat(piece);
      next = b_("concat", pieces, {{"axis", int64_t{0}}}, slot.name + ".next");
    }
    g_.updates.push_back({flat_state, next});
  }

  // Adds the slices of all members at the front of the order, the last member first.
  Values slice_members(const StateGroup& slot, ValueId flat_state) {
    const std::vector<NodeId> rest = std::exchange(g_.order, {});
    std::vector<NodeId> front;
    Values pieces;
    for (const StateMember& member : slot.members) {
      pieces.push_back(slice_member(member, flat_state));
      front.insert(front.end(), g_.order.rbegin(), g_.order.rend());
      g_.order.clear();
    }
    g_.order.assign(front.rbegin(), front.rend());
    g_.order.insert(g_.order.end(), rest.begin(), rest.end());
    return pieces;
  }

  // Adds the slice of one member. A view of it replaces the member in all uses.
  ValueId slice_member(const StateMember& member, ValueId flat_state) {
    b_.loc = {};
    const Attrs range{{"starts", Dims{member.offset}}, {"limits", Dims{member.offset + member.type.elements()}}};
    const ValueId piece = b_("slice", {flat_state}, range, member.name + ".flat");
    const ValueId view = b_.reshape(piece, member.type.dims);
    if (const ValueId old = g_.find(member.name); old.valid()) g_.replace_uses(old, view);
    views_[member.name] = view;
    return piece;
  }

  Graph& g_;
  const FlatGroup& group_;
  Builder b_;
  Values flats_;  // by slot; invalid if the graph has none of the members
  std::map<ValueId, ValueId> flat_of_;
  std::map<std::string, ValueId> views_;  // of members, by name
};

void flatten_graph(Graph& g, const std::vector<FlatGroup>& groups, const UpdatePatterns& patterns) {
  const NamedBundles bundles(g, patterns);
  std::vector<Flattening> parts;
  parts.reserve(groups.size());
  for (const FlatGroup& group : groups) parts.emplace_back(g, group);
  for (size_t i = 0; i < groups.size(); ++i) parts[i].run(bundles.of(groups[i]), patterns.parts);
  remove_dead_nodes(g);
}

}  // namespace

bool flatten(Module& m, const Options& options) {
  bool changed = false;
  for (Graph& g : m.graphs) changed |= merge_common_nodes(g);  // so that equal scalars of two updates are one value
  std::vector<UpdatePatterns> patterns;
  for (const Graph& g : m.graphs) patterns.push_back(update_patterns(g));
  const std::vector<FlatGroup> groups = find_flat_groups(m, patterns, options);
  if (groups.empty()) return changed;
  for (size_t i = 0; i < m.graphs.size(); ++i) flatten_graph(m.graphs[i], groups, patterns[i]);
  for (const FlatGroup& group : groups) m.groups.insert(m.groups.end(), group.slots.begin(), group.slots.end());
  for (Graph& g : m.graphs) merge_common_nodes(g);  // views and updates of the flat states may be equal in their turn
  return true;
}

}  // namespace heddle::passes
