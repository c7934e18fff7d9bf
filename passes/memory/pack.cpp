#include "passes/memory/pack.h"

#include <fmt/format.h>

#include <algorithm>

#include "passes/memory/pack_intervals.h"

namespace heddle::passes {
using namespace ir;

namespace {

constexpr int64_t kArenaAlignment = 256;  // bytes; what GPU allocations and library calls expect

bool is_state(const Value& v) { return v.role == Role::param || v.role == Role::state; }

ValueId storage(const Graph& g, ValueId v) {
  while (g[v].place.base.valid()) v = g[v].place.base;
  return v;
}

// What needs a place: the root of a group of values, or the scratch of a call.
struct Buffers {
  std::vector<Interval> intervals;
  std::vector<ValueId> roots;  // of the first intervals
  std::vector<NodeId> calls;   // of those after them
};

// From when to when each value's bytes are needed, by ValueId index of the root; empty where nothing is stored.
std::vector<Interval> live_ranges(const Graph& g) {
  const std::vector<int> position = g.positions();
  const auto last = static_cast<int64_t>(g.order.size());
  std::vector<Interval> ranges(g.value_count());
  const auto define = [&](ValueId v, int64_t at) {
    const ValueId root = storage(g, v);
    Interval& r = ranges[static_cast<size_t>(root.index)];
    int64_t end = g.is_output(v) || g.is_next(v) ? last : at;
    for (NodeId use : g[v].uses) end = std::max<int64_t>(end, position[static_cast<size_t>(use.index)]);
    r.begin = r.bytes == 0 ? at : std::min(r.begin, at);
    r.end = std::max(r.end, end + 1);
    r.bytes = g[root].type.bytes();
  };
  for (ValueId v : g.inputs) define(v, 0);
  for (size_t i = 0; i < g.order.size(); ++i)
    for (ValueId v : g[g.order[i]].results) define(v, static_cast<int64_t>(i));
  return ranges;
}

Buffers collect(const Module& m, const Graph& g) {
  Buffers b;
  const std::vector<Interval> ranges = live_ranges(g);
  for (size_t i = 0; i < ranges.size(); ++i) {
    const ValueId v{static_cast<int32_t>(i)};
    if (ranges[i].bytes == 0 || is_state(g[v])) continue;
    b.intervals.push_back(ranges[i]);
    b.roots.push_back(v);
  }
  for (size_t i = 0; i < g.order.size(); ++i) {
    const Node& n = g[g.order[i]];
    const Graph* kernel = n.callee.empty() ? nullptr : m.find_kernel(n.callee);
    if (kernel == nullptr || !kernel->form || kernel->form->workspace == 0) continue;
    const auto at = static_cast<int64_t>(i);
    b.intervals.push_back({at, at + 1, kernel->form->workspace});
    b.calls.push_back(g.order[i]);
  }
  return b;
}

bool pack_graph(const Module& m, Graph& g, const Options& options) {
  const Buffers b = collect(m, g);
  const Packing packing = pack_intervals(b.intervals, kArenaAlignment);
  bool changed = g.arena_bytes != packing.bytes;
  g.arena_bytes = packing.bytes;
  for (size_t i = 0; i < b.roots.size(); ++i) {
    const Place place{packing.offsets[i], {}};
    changed |= g[b.roots[i]].place != place;
    g[b.roots[i]].place = place;
  }
  for (size_t i = 0; i < b.calls.size(); ++i) {
    Attr& at = g[b.calls[i]].attrs["workspace_at"];
    changed |= at != Attr(packing.offsets[b.roots.size() + i]);
    at = packing.offsets[b.roots.size() + i];
  }
  options.note("pack", g, "arena", fmt::format("{} bytes, at most {} live", packing.bytes, packing.max_live));
  return changed;
}

}  // namespace

bool pack(Module& m, const Options& options) {
  bool changed = false;
  for (Graph& g : m.graphs) changed |= pack_graph(m, g, options);
  return changed;
}

}  // namespace heddle::passes
