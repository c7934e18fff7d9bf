#include "passes/memory/instruction_scheduling.h"

#include <fmt/format.h>

#include <algorithm>
#include <queue>
#include <tuple>

#include "ir/kernel/plan_primitive.h"
#include "ir/storage/storage.h"

namespace heddle::passes {
using namespace ir;

namespace {

// The storages of a graph, as the scheduler sees them. A view belongs to the storage of the value it views.
struct Storages {
  std::vector<std::vector<ValueId>> touched;  // by NodeId index: the roots of its operands and results, each once
  std::vector<std::vector<NodeId>> of;        // by ValueId index of the root: the nodes that touch it
  std::vector<char> pinned;                   // by ValueId index of the root: lives to the end, or outside the arena
  std::vector<char> owned;                    // by ValueId index: whether it is a root
  std::vector<ValueId> overwrites;            // by NodeId index: the state whose next value it computes
  std::vector<char> only_overwrites;          // by NodeId index: whether all its results overwrite its operands
};

// Puts results that overwrite an operand into the operand's storage. Returns, by NodeId index, whether all results of a
// node are such.
std::vector<char> overwrite(const Module& m, const Graph& g, std::vector<StorageSpan>& spans) {
  std::vector<char> alone(g.node_count(), 0);
  for (const NodeId id : g.order) {
    const Node& n = g[id];
    const Graph* k = n.callee.empty() ? nullptr : m.find_kernel(n.callee);
    if (k == nullptr) continue;
    const std::vector<OverwrittenInput> all = overwritten_inputs(*k);
    for (const OverwrittenInput& o : all) spans[index_of(n.results[o.output])] = spans[index_of(n.operands[o.input])];
    alone[index_of(id)] = !all.empty() && all.size() == n.results.size();
  }
  return alone;
}

Storages storages(const Module& m, const Graph& g) {
  std::vector<StorageSpan> spans = view_spans(g);
  const std::vector<char> overwrites_alone = overwrite(m, g, spans);
  const auto root = [&](ValueId v) { return spans[index_of(v)].root; };
  Storages s{.touched = std::vector<std::vector<ValueId>>(g.node_count()),
             .of = std::vector<std::vector<NodeId>>(g.value_count()),
             .pinned = std::vector<char>(g.value_count(), 0),
             .owned = std::vector<char>(g.value_count(), 0),
             .overwrites = std::vector<ValueId>(g.node_count()),
             .only_overwrites = overwrites_alone};
  for (size_t i = 0; i < spans.size(); ++i) s.owned[i] = index_of(spans[i].root) == i;
  for (NodeId id : g.order) {
    std::vector<ValueId>& roots = s.touched[index_of(id)];
    for (ValueId v : g[id].operands) roots.push_back(root(v));
    for (ValueId v : g[id].results) roots.push_back(root(v));
    std::sort(roots.begin(), roots.end());
    roots.erase(std::unique(roots.begin(), roots.end()), roots.end());
    for (ValueId r : roots) s.of[index_of(r)].push_back(id);
  }
  for (ValueId v : g.inputs) s.pinned[index_of(v)] = g.body ? lies_outside(g[v]) : g[v].role != Role::input;
  for (ValueId v : g.outputs) s.pinned[index_of(root(v))] = 1;
  for (const Update& u : g.updates) {
    const ValueId next = root(u.next);
    s.pinned[index_of(next)] = 1;
    if (g[next].def.valid()) s.overwrites[index_of(g[next].def)] = u.state;
  }
  return s;
}

// How a list schedule chooses among the nodes that are ready.
enum class Priority {
  program_order,
  growth,   // the node with the least bytes allocated minus bytes freed
  deepest,  // the node with the longest path to the end, among those that increase memory least
};

class ListScheduler {
 public:
  ListScheduler(const Graph& g, const Storages& s, Priority priority) : g_(g), s_(s), priority_(priority) {
    position_ = g.positions();
    waiting_.resize(g.node_count());
    taken_.resize(g.node_count());
    freed_.resize(g.node_count());
    writers_.resize(g.value_count());
    left_.resize(g.value_count());
    for (NodeId id : g.order)
      if (const ValueId state = s.overwrites[index_of(id)]; state.valid()) writers_[index_of(state)].push_back(id);
    for (size_t i = 0; i < left_.size(); ++i) {
      left_[i] = s.of[i].size();
      if (left_[i] == 1 && !s.pinned[i])
        freed_[index_of(s.of[i][0])] += g[ValueId{static_cast<int32_t>(i)}].type.bytes();
    }
    heights();
    for (NodeId id : g.order) {
      for (ValueId v : g[id].operands) waiting_[index_of(id)] += g[v].def.valid();
      offer(id);
    }
  }

  std::vector<NodeId> order() {
    std::vector<NodeId> out;
    while (!ready_.empty()) {
      const NodeId next = ready_.top().node;
      ready_.pop();
      if (taken_[index_of(next)]) continue;  // an outdated offer: the node was offered again with a smaller key
      out.push_back(next);
      take(next);
    }
    return out;
  }
  int64_t peak() const { return peak_; }

 private:
  // A smaller key comes first. Ties are broken by node id, not by the current order, so that a second run changes
  // nothing.
  using Key = std::tuple<bool, int64_t, int64_t, int64_t>;
  struct Offer {
    Key key;
    NodeId node;
    bool operator<(const Offer& o) const { return key > o.key; }  // the queue's top is the largest
  };

  void heights() {
    height_.resize(g_.node_count());
    for (size_t i = g_.order.size(); i-- > 0;)
      for (ValueId r : g_[g_.order[i]].results)
        for (NodeId use : g_[r].uses)
          height_[index_of(g_.order[i])] = std::max(height_[index_of(g_.order[i])], height_[index_of(use)] + 1);
  }

  // Keys only become smaller, so the newest of several offers of a node comes first.
  void offer(NodeId id) {
    if (waiting_[index_of(id)] == 0 && !taken_[index_of(id)]) ready_.push({key(id), id});
  }

  Key key(NodeId id) const {
    const int64_t at = id.index;
    switch (priority_) {
      case Priority::program_order: return {deferred(id), position_[index_of(id)], 0, 0};
      case Priority::growth: return {deferred(id), growth(id), -height_[index_of(id)], at};
      case Priority::deepest: return {deferred(id), std::max<int64_t>(growth(id), 0), -height_[index_of(id)], at};
    }
    return {};
  }

  // Whether the node should wait. Either another node still has to read the state that it may overwrite; or all its
  // results overwrite operands, so it neither takes nor frees memory, and running it early would only extend live
  // ranges.
  bool deferred(NodeId id) const {
    if (s_.only_overwrites[index_of(id)]) return true;
    const ValueId state = s_.overwrites[index_of(id)];
    if (!state.valid()) return false;
    const std::vector<ValueId>& roots = s_.touched[index_of(id)];
    const size_t own = std::binary_search(roots.begin(), roots.end(), state) ? 1 : 0;
    return left_[index_of(state)] > own;
  }

  int64_t allocated(NodeId id) const {
    int64_t bytes = 0;
    for (ValueId r : g_[id].results)
      if (s_.owned[index_of(r)]) bytes += g_[r].type.bytes();
    return bytes;
  }
  int64_t growth(NodeId id) const { return allocated(id) - freed_[index_of(id)]; }

  void take(NodeId id) {
    taken_[index_of(id)] = 1;
    live_ += allocated(id);
    peak_ = std::max(peak_, live_);
    live_ -= freed_[index_of(id)];
    for (ValueId r : s_.touched[index_of(id)]) {
      if (--left_[index_of(r)] == 1) leave_to_last(r);
      if (left_[index_of(r)] <= 1)
        for (NodeId writer : writers_[index_of(r)]) offer(writer);
    }
    for (ValueId r : g_[id].results)
      for (NodeId use : g_[r].uses)
        if (--waiting_[index_of(use)] == 0) offer(use);
  }

  // One node is left that touches the storage: it frees it.
  void leave_to_last(ValueId root) {
    if (s_.pinned[index_of(root)]) return;
    const std::vector<NodeId>& nodes = s_.of[index_of(root)];
    const NodeId last = *std::find_if(nodes.begin(), nodes.end(), [&](NodeId n) { return !taken_[index_of(n)]; });
    freed_[index_of(last)] += g_[root].type.bytes();
    offer(last);
  }

  const Graph& g_;
  const Storages& s_;
  Priority priority_;
  std::vector<int> position_;
  std::vector<int> waiting_;                  // by NodeId index: operands not computed yet
  std::vector<char> taken_;                   // by NodeId index
  std::vector<int64_t> freed_;                // by NodeId index: bytes of the storages that no later node touches
  std::vector<size_t> left_;                  // by ValueId index of the root: nodes that have not touched it yet
  std::vector<std::vector<NodeId>> writers_;  // by ValueId index of a state: the nodes that may overwrite it
  std::vector<int64_t> height_;               // by NodeId index: the longest path to the end
  std::priority_queue<Offer> ready_;
  int64_t live_ = 0, peak_ = 0;
};

bool schedule_graph(const Module& m, Graph& g, const Options& options) {
  const Storages s = storages(m, g);
  std::vector<NodeId> best;
  int64_t least = 0;
  for (Priority priority : {Priority::program_order, Priority::growth, Priority::deepest}) {
    ListScheduler scheduler(g, s, priority);
    std::vector<NodeId> order = scheduler.order();
    if (best.empty() || scheduler.peak() < least) {
      if (!best.empty())
        options.note("schedule_instructions", g, "order",
                     fmt::format("{} bytes live instead of {}", scheduler.peak(), least));
      best = std::move(order);
      least = scheduler.peak();
    }
  }
  if (best == g.order) return false;
  g.order = std::move(best);
  return true;
}

}  // namespace

bool schedule_instructions(Module& m, const Options& options) {
  bool changed = false;
  for (Graph* g : m.all_graphs()) changed |= schedule_graph(m, *g, options);
  return changed;
}

}  // namespace heddle::passes
