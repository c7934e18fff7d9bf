#include "passes/recompute.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "ir/copy_node.h"
#include "ir/cursor.h"
#include "ir/dependencies.h"
#include "ir/op_def.h"
#include "passes/outline.h"

namespace heddle::passes {
using namespace ir;

namespace {

constexpr int64_t kSmall = 8;  // a result this many times smaller than its operand is kept

// Whether a carry of the loop over micro-batches sums gradients, by the name that the frontend gives it
// (frontend/training/accumulate.h).
bool sums_gradients(const Value& carry) { return carry.role == Role::carry && carry.name.ends_with(".grad.so_far"); }

// The nodes of the backward sweep and the optimizer, by NodeId index: those on which the next parameters or the sums of
// gradients depend, but not the loss or other carries. The norm of the gradients and the loss scale are results of the
// sweep, so they do not count as "other".
std::vector<char> backward_nodes(const Graph& g) {
  Values next, told;
  for (const Update& u : g.updates) {
    const Value& state = g[u.state];
    if (state.role == Role::param || sums_gradients(state))
      next.push_back(u.next);
    else if (state.role == Role::carry)
      told.push_back(u.next);
  }
  for (const ValueId v : g.outputs)
    if (output_role(g[v].name) != OutputRole::norm && g[v].name != kToldScale) told.push_back(v);
  const std::vector<char> of_next = dependencies(g, next), of_told = dependencies(g, told);
  std::vector<char> backward(g.node_count(), 0);
  for (const NodeId n : g.order) {
    const auto any = [&](const std::vector<char>& of) {
      return std::ranges::any_of(g[n].results, [&](ValueId v) { return of[index_of(v)] != 0; });
    };
    backward[index_of(n)] = any(of_next) && !any(of_told);
  }
  return backward;
}

class Blocks {
 public:
  explicit Blocks(const std::vector<std::string>& paths) {
    for (const std::string& path : paths) known_.emplace(path, known_.size());
  }
  // The innermost block whose path is a prefix of the name; -1: none.
  int of(std::string_view name) const {
    for (size_t end = name.rfind('.'); end != std::string_view::npos; end = name.rfind('.', end - 1)) {
      const auto at = known_.find(std::string(name.substr(0, end)));
      if (at != known_.end()) return static_cast<int>(at->second);
      if (end == 0) break;
    }
    return -1;
  }
  size_t count() const { return known_.size(); }

 private:
  std::unordered_map<std::string, size_t> known_;
};

class Recompute {
 public:
  Recompute(Graph& g, const Options& options)
      : g_(g), options_(options), backward_(backward_nodes(g)), blocks_(options.recompute), position_(g.positions()) {
    block_.assign(g.node_count(), -1);
    members_.resize(blocks_.count());
    find_data();
    for (const NodeId n : g.order) {
      if (backward_[index_of(n)] || std::holds_alternative<Source>(g[n].op->kind)) continue;
      const int block = blocks_.of(g[g[n].results[0]].name);
      block_[index_of(n)] = block;
      if (block >= 0) members_[static_cast<size_t>(block)].push_back(n);
    }
  }

  bool run() {
    bool changed = false;
    for (size_t b = members_.size(); b-- > 0;) changed |= again(b);
    if (changed) sort_topologically(g_);
    return changed;
  }

 private:
  bool is_backward(NodeId n) const { return index_of(n) < backward_.size() && backward_[index_of(n)]; }

  // Whether a reduction's results stay: they are much smaller than the operands, or another kernel might add them up in
  // another order.
  bool is_kept_sum(const Node& n) const {
    const auto* reduction = std::get_if<Reduction>(&n.op->kind);
    if (reduction == nullptr) return false;
    int64_t most = 0;
    for (const ValueId v : n.operands) most = std::max(most, g_[v].type.elements());
    const int64_t elements = g_[n.results[0]].type.elements();
    return elements * kSmall <= most || (reduction->monoid.rounds && elements < most);
  }

  // Marks the values that depend on the rows. Values of parameters alone are not larger than these, so they stay.
  void find_data() {
    of_data_.assign(g_.value_count(), 0);
    for (const ValueId v : g_.inputs)
      of_data_[index_of(v)] = g_[v].role == Role::input || g_[v].role == Role::slice || g_[v].role == Role::carry;
    for (const NodeId n : g_.order) {
      const bool any = std::ranges::any_of(g_[n].operands, [&](ValueId v) { return of_data_[index_of(v)] != 0; });
      for (const ValueId v : g_[n].results) of_data_[index_of(v)] = any;
    }
  }

  // Whether the value stays in memory in any case: a node outside of the block and the sweep reads it, or it is small.
  bool is_kept(ValueId v, size_t block) const {
    const NodeId def = g_[v].def;
    if (!def.valid() || index_of(def) >= block_.size() || block_[index_of(def)] != static_cast<int>(block)) return true;
    if (!of_data_[index_of(v)] || g_.is_output(v) || g_.is_next(v) || is_kept_sum(g_[def])) return true;
    return std::ranges::any_of(g_[v].uses, [&](NodeId use) {
      return !is_backward(use) && index_of(use) < block_.size() && block_[index_of(use)] != static_cast<int>(block);
    });
  }

  // The values of the block that the sweep reads and that do not stay, in program order.
  Values needed(size_t block) const {
    Values all;
    for (const NodeId n : members_[block])
      for (const ValueId v : g_[n].results)
        if (!is_kept(v, block) && std::ranges::any_of(g_[v].uses, [&](NodeId use) { return is_backward(use); }))
          all.push_back(v);
    return all;
  }

  std::vector<NodeId> cone(const Values& of, size_t block) const {
    std::set<NodeId> found;
    Values open = of;
    while (!open.empty()) {
      const ValueId v = open.back();
      open.pop_back();
      if (is_kept(v, block) || !found.insert(g_[v].def).second) continue;
      for (const ValueId operand : g_[g_[v].def].operands) open.push_back(operand);
    }
    std::vector<NodeId> sorted(found.begin(), found.end());
    std::ranges::sort(sorted, {}, [&](NodeId n) { return position_[index_of(n)]; });
    return sorted;
  }

  // A gradient that the sweep has computed when it arrives at the block: the first one that is combined with a value of
  // the block. Invalid if there is none.
  ValueId arrival(const Values& needed) const {
    std::set<ValueId> inside(needed.begin(), needed.end());
    int first = static_cast<int>(g_.order.size());
    for (const ValueId v : needed)
      for (const NodeId use : g_[v].uses)
        if (is_backward(use)) first = std::min(first, position_[index_of(use)]);
    for (auto i = static_cast<size_t>(first); i < g_.order.size(); ++i) {
      const Node& n = g_[g_.order[i]];
      if (std::ranges::none_of(n.operands, [&](ValueId v) { return inside.count(v) != 0; })) continue;
      for (const ValueId v : n.operands)
        if (inside.count(v) == 0 && g_[v].def.valid() && is_backward(g_[v].def) && g_[v].type.elements() > 1 &&
            !std::holds_alternative<Source>(g_[g_[v].def].op->kind))
          return v;
      inside.insert(n.results.begin(), n.results.end());
    }
    return {};
  }

  // Whether the gradient depends on the sweep's reads of the block, directly or through values that other blocks wait
  // for. Waiting for it would then be a cycle. This occurs in models with phases, whose sweeps read one block several
  // times.
  bool is_made_of(ValueId dy, const Values& values) const {
    const std::set<ValueId> read(values.begin(), values.end());
    std::vector<char> seen(g_.node_count(), 0);
    std::vector<NodeId> open = {g_[dy].def};
    while (!open.empty()) {
      const NodeId n = open.back();
      open.pop_back();
      if (std::exchange(seen[index_of(n)], 1) != 0) continue;
      for (const ValueId v : g_[n].operands) {
        if (is_backward(n) && read.count(v) != 0) return true;
        if (g_[v].def.valid()) open.push_back(g_[v].def);
      }
    }
    return false;
  }

  bool waits(ValueId v) const { return of_data_[index_of(v)] && g_[v].type.elements() > 1; }

  bool again(size_t block) {
    const Values values = needed(block);
    if (values.empty()) return false;
    const std::vector<NodeId> nodes = cone(values, block);
    const ValueId dy = arrival(values);
    if (!dy.valid()) {
      options_.note("recompute", g_, "%" + g_[values[0]].name, "kept: no gradient arrives that it could wait for");
      return false;
    }
    if (is_made_of(dy, values)) {
      options_.note("recompute", g_, "%" + g_[values[0]].name,
                    fmt::format("kept: the gradient that it could wait for, %{}, is made of it", g_[dy].name));
      return false;
    }
    std::map<ValueId, ValueId> again;
    const auto operand_of = [&](ValueId v) {
      if (const auto at = again.find(v); at != again.end()) return at->second;
      if (!waits(v)) return v;
      const NodeId n = g_.add_node(op_def("ordered_after"), {v, dy}, {}, {g_[v].name + ".again"}, {g_[v].type},
                                   g_[v].def.valid() ? g_[g_[v].def].loc : Location{});
      return again[v] = g_[n].results[0];
    };
    int64_t bytes = 0;
    for (const NodeId id : nodes) {
      const Node& n = g_[id];
      Values operands;
      for (const ValueId v : n.operands) operands.push_back(operand_of(v));
      const NodeId copy = copy_node(g_, g_, n, operands);
      for (size_t i = 0; i < n.results.size(); ++i) {
        again[n.results[i]] = g_[copy].results[i];
        g_.rename(g_[copy].results[i], g_[n.results[i]].name + ".again");
      }
    }
    for (const ValueId v : values) {
      bytes += g_[v].type.bytes();
      const std::vector<NodeId> uses = g_[v].uses;
      for (const NodeId use : uses) {
        if (!is_backward(use)) continue;
        for (size_t i = 0; i < g_[use].operands.size(); ++i)
          if (g_[use].operands[i] == v) g_.set_operand(use, i, again.at(v));
      }
    }
    options_.note("recompute", g_, options_.recompute[block],
                  fmt::format("{} values of {} bytes are computed again by {} nodes, behind %{}", values.size(), bytes,
                              nodes.size(), g_[dy].name));
    return true;
  }

  Graph& g_;
  const Options& options_;
  std::vector<char> backward_;  // by NodeId index
  Blocks blocks_;
  std::vector<int> position_;
  std::vector<char> of_data_;                 // by ValueId index: whether it depends on the rows
  std::vector<int> block_;                    // by NodeId index; -1: in none
  std::vector<std::vector<NodeId>> members_;  // by block, in program order
};

}  // namespace

bool recompute(Module& m, const Options& options) {
  if (options.recompute.empty()) return false;
  bool changed = false;
  for (Graph* g : m.all_graphs()) {
    const bool sums = std::ranges::any_of(g->inputs, [&](ValueId v) { return sums_gradients((*g)[v]); });
    if (!g->body || sums) changed |= Recompute(*g, options).run();
  }
  return changed;
}

}  // namespace heddle::passes
