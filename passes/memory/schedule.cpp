#include "passes/memory/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "ir/storage.h"

namespace heddle::passes {
using namespace ir;

namespace {

// The graph as the scheduler sees it: views belong to the storage they look into.
struct Storages {
  std::vector<StorageSpan> spans;    // by ValueId index
  std::vector<std::set<NodeId>> of;  // by ValueId index of the root: the nodes that touch it
  std::vector<char> pinned;          // by ValueId index of the root: lives to the end, or outside the arena
  std::vector<ValueId> overwrites;   // by NodeId index: the state whose next value it computes
  ValueId root(ValueId v) const { return spans[index_of(v)].root; }
};

Storages storages(const Graph& g) {
  Storages s{view_spans(g), std::vector<std::set<NodeId>>(g.value_count()), std::vector<char>(g.value_count(), 0),
             std::vector<ValueId>(g.node_count())};
  for (NodeId id : g.order) {
    for (ValueId v : g[id].operands) s.of[index_of(s.root(v))].insert(id);
    for (ValueId v : g[id].results) s.of[index_of(s.root(v))].insert(id);
  }
  for (ValueId v : g.inputs) s.pinned[index_of(v)] = g[v].role != Role::input;
  for (ValueId v : g.outputs) s.pinned[index_of(s.root(v))] = 1;
  for (const Update& u : g.updates) {
    const ValueId root = s.root(u.next);
    s.pinned[index_of(root)] = 1;
    if (g[root].def.valid()) s.overwrites[index_of(g[root].def)] = u.state;
  }
  return s;
}

// How one list scheduling chooses among the nodes that are ready.
enum class Priority {
  program_order,
  growth,   // the node that frees most, less what it allocates
  deepest,  // the node with the longest way to the end, among those that do not grow memory more than needed
};

class ListScheduler {
 public:
  ListScheduler(const Graph& g, const Storages& s, Priority priority) : g_(g), s_(s), priority_(priority) {
    position_ = g.positions();
    waiting_.resize(g.node_count());
    left_.resize(g.value_count());
    for (size_t i = 0; i < left_.size(); ++i) left_[i] = s.of[i].size();
    for (NodeId id : g.order) {
      for (ValueId v : g[id].operands) waiting_[index_of(id)] += g[v].def.valid();
      if (waiting_[index_of(id)] == 0) ready_.insert(id);
    }
    heights();
  }

  std::vector<NodeId> order() {
    std::vector<NodeId> out;
    while (!ready_.empty()) {
      const NodeId next =
          *std::min_element(ready_.begin(), ready_.end(), [&](NodeId a, NodeId b) { return key(a) < key(b); });
      out.push_back(next);
      take(next);
    }
    return out;
  }
  int64_t peak() const { return peak_; }

 private:
  using Key = std::tuple<bool, int64_t, int64_t, int64_t>;

  void heights() {
    height_.resize(g_.node_count());
    for (size_t i = g_.order.size(); i-- > 0;)
      for (ValueId r : g_[g_.order[i]].results)
        for (NodeId use : g_[r].uses)
          height_[index_of(g_.order[i])] = std::max(height_[index_of(g_.order[i])], height_[index_of(use)] + 1);
  }

  // Smaller is sooner. Ties fall to the node made first, not to the current order: a second run finds nothing else.
  Key key(NodeId id) const {
    const int64_t at = id.index;
    switch (priority_) {
      case Priority::program_order: return {deferred(id), position_[index_of(id)], 0, 0};
      case Priority::growth: return {deferred(id), growth(id), -height_[index_of(id)], at};
      case Priority::deepest: return {deferred(id), std::max<int64_t>(growth(id), 0), -height_[index_of(id)], at};
    }
    return {};
  }

  // Whether someone else still has to read the state that the node may overwrite.
  bool deferred(NodeId id) const {
    const ValueId state = s_.overwrites[index_of(id)];
    if (!state.valid()) return false;
    const size_t own = s_.of[index_of(state)].count(id);
    return left_[index_of(state)] > own;
  }

  int64_t allocated(NodeId id) const {
    int64_t bytes = 0;
    for (ValueId r : g_[id].results)
      if (s_.root(r) == r) bytes += g_[r].type.bytes();
    return bytes;
  }
  // Bytes of the storages nobody touches after this node.
  int64_t freed(NodeId id) const {
    std::set<ValueId> roots;
    for (ValueId v : g_[id].operands) roots.insert(s_.root(v));
    for (ValueId v : g_[id].results) roots.insert(s_.root(v));
    int64_t bytes = 0;
    for (ValueId r : roots)
      if (!s_.pinned[index_of(r)] && left_[index_of(r)] == 1) bytes += g_[r].type.bytes();
    return bytes;
  }
  int64_t growth(NodeId id) const { return allocated(id) - freed(id); }

  void take(NodeId id) {
    live_ += allocated(id);
    peak_ = std::max(peak_, live_);
    live_ -= freed(id);
    std::set<ValueId> roots;
    for (ValueId v : g_[id].operands) roots.insert(s_.root(v));
    for (ValueId v : g_[id].results) roots.insert(s_.root(v));
    for (ValueId r : roots) --left_[index_of(r)];
    ready_.erase(id);
    for (ValueId r : g_[id].results)
      for (NodeId use : g_[r].uses)
        if (--waiting_[index_of(use)] == 0) ready_.insert(use);
  }

  const Graph& g_;
  const Storages& s_;
  Priority priority_;
  std::vector<int> position_;
  std::vector<int> waiting_;     // by NodeId index: operands not computed yet
  std::vector<size_t> left_;     // by ValueId index of the root: nodes that have not touched it yet
  std::vector<int64_t> height_;  // by NodeId index: the longest way to the end
  std::set<NodeId> ready_;
  int64_t live_ = 0, peak_ = 0;
};

bool schedule_graph(Graph& g, const Options& options) {
  const Storages s = storages(g);
  std::vector<NodeId> best;
  int64_t least = 0;
  for (Priority priority : {Priority::program_order, Priority::growth, Priority::deepest}) {
    ListScheduler scheduler(g, s, priority);
    std::vector<NodeId> order = scheduler.order();
    if (best.empty() || scheduler.peak() < least) {
      if (!best.empty())
        options.note("schedule", g, "order", fmt::format("{} bytes live instead of {}", scheduler.peak(), least));
      best = std::move(order);
      least = scheduler.peak();
    }
  }
  if (best == g.order) return false;
  g.order = std::move(best);
  return true;
}

}  // namespace

bool schedule(Module& m, const Options& options) {
  bool changed = false;
  for (Graph& g : m.graphs) changed |= schedule_graph(g, options);
  return changed;
}

}  // namespace heddle::passes
