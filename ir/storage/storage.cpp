#include "ir/storage/storage.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "ir/check.h"
#include "ir/op_def.h"
#include "ir/storage/view.h"

namespace heddle::ir {
namespace {

// Storages in the order of their roots.
void add_storages(const Graph& g, std::vector<ArenaItem>& items) {
  const std::vector<int> stacked = stacked_in_place(g);
  for (const auto& [root, values] : values_by_root(g, [&](ValueId v) { return storage_of(g, v); })) {
    const int64_t bytes = g[root].type.bytes();
    if (bytes > 0 && !lies_outside(g[root]) && stacked[index_of(root)] < 0)
      items.push_back({bytes, root, {}, parts_of(values)});
  }
}

void add_scratch(const Module& m, const Graph& g, std::vector<ArenaItem>& items) {
  for (size_t i = 0; i < g.order.size(); ++i) {
    const int64_t bytes = scratch_bytes(m, g[g.order[i]]);
    if (bytes == 0) continue;
    const auto at = static_cast<int64_t>(i);
    items.push_back({bytes, {}, g.order[i], {{0, {at, at + 1, bytes}}}});
  }
}

}  // namespace

bool is_state(const Value& v) { return is_named_state(v) || is_feeding(v) || v.role == Role::carry; }

bool is_named_state(const Value& v) { return v.role == Role::param || v.role == Role::buffer || v.role == Role::state; }

bool is_feeding(const Value& v) { return v.role == Role::cursor || v.role == Role::ring; }

bool lies_aligned(const Type& row) { return row.elements() == 1 || row.bytes() % kViewAlignment == 0; }

bool lies_outside(const Value& v) {
  return is_state(v) || v.role == Role::fixed || (v.role == Role::slice && lies_aligned(v.type));
}

std::vector<int> stacked_in_place(const Graph& body) {
  std::vector<int> outputs(body.value_count(), -1);
  if (!body.body) return outputs;
  for (size_t i = 0; i < body.outputs.size(); ++i) {
    const StorageSpan span = storage_of(body, body.outputs[i]);
    const Value& root = body[span.root];
    const bool fills = span.offset == 0 && root.type.bytes() == body[body.outputs[i]].type.bytes();
    int& number = outputs[index_of(span.root)];
    if (fills && root.def.valid() && number < 0 && lies_aligned(root.type)) number = static_cast<int>(i);
  }
  return outputs;
}

int64_t scratch_bytes(const Module& m, const Node& n) {
  if (n.callee.empty()) return 0;
  if (const Graph* body = std::holds_alternative<Scan>(n.op->kind) ? m.find_body(n.callee) : nullptr)
    return std::max<int64_t>(body->arena_bytes, 0);
  const Graph* kernel = m.find_kernel(n.callee);
  return kernel == nullptr || !kernel->schedule ? 0 : kernel->schedule->workspace;
}

StorageSpan storage_of(const Graph& g, ValueId v) {
  StorageSpan span{v, 0};
  for (size_t steps = 0; g[span.root].place.base.valid(); ++steps) {
    HEDDLE_CHECK(steps < g.value_count(), fmt::format("the places of %{} form a cycle", g[v].name));
    span.offset += g[span.root].place.offset;
    span.root = g[span.root].place.base;
  }
  return span;
}

ByteRanges byte_ranges(const Graph& g) {
  ByteRanges ranges{std::vector<ByteRange>(g.value_count()), {g.arena_bytes}};
  std::map<ValueId, size_t> own_segments;
  const auto add = [&](ValueId v) {
    const auto [root, offset] = storage_of(g, v);  // a base may be defined after the values inside it
    ByteRange& range = ranges.of[index_of(v)];
    range = {0, offset, g[v].type.bytes()};
    if (g[root].place.placed()) {
      range.begin += g[root].place.offset;
      return;
    }
    const auto [it, added] = own_segments.try_emplace(root, ranges.segments.size());
    if (added) ranges.segments.push_back(g[root].type.bytes());
    range.segment = it->second;
  };
  for (const ValueId v : g.inputs) add(v);
  for (const NodeId n : g.order)
    for (const ValueId v : g[n].results) add(v);
  return ranges;
}

std::vector<char> updated_states(const Graph& g) {
  std::vector<char> updated(g.value_count(), 0);
  for (const Update& u : g.updates) updated[index_of(u.state)] = 1;
  return updated;
}

std::vector<StorageSpan> view_spans(const Graph& g, const std::function<void(ValueId, const std::string&)>& refused) {
  const std::vector<char> updated = updated_states(g);
  std::vector<char> leaves(g.value_count(), 0);
  for (const ValueId v : g.outputs) leaves[index_of(v)] = 1;
  for (const Update& u : g.updates) leaves[index_of(u.next)] = 1;
  const auto refuse = [&](ValueId v, const std::string& reason) {
    if (refused) refused(v, "copied: " + reason);
  };
  std::vector<StorageSpan> spans(g.value_count());
  for (size_t i = 0; i < spans.size(); ++i) spans[i].root = ValueId{static_cast<int32_t>(i)};
  for (const NodeId id : g.order) {
    const Node& n = g[id];
    const std::vector<Piece> pieces = contiguous_pieces(g, n);
    if (pieces.size() != 1) continue;
    const ValueId result = n.results[0];
    StorageSpan span = spans[index_of(n.operands[pieces[0].operand])];
    span.offset += pieces[0].from * bits(g[result].type.dtype) / 8;
    if (span.offset % kViewAlignment != 0)
      refuse(result,
             fmt::format("{} bytes into %{} is no multiple of {}", span.offset, g[span.root].name, kViewAlignment));
    else if (leaves[index_of(result)] && updated[index_of(span.root)])
      refuse(result, fmt::format("%{} is updated before this is read", g[span.root].name));
    else
      spans[index_of(result)] = span;
  }
  return spans;
}

std::vector<LiveRange> live_ranges(const Graph& g) {
  std::vector<LiveRange> ranges(g.value_count());
  const auto steps = static_cast<int64_t>(g.order.size());
  for (int64_t i = 0; i < steps; ++i) {
    const Node& n = g[g.order[static_cast<size_t>(i)]];
    for (const ValueId v : n.operands) ranges[index_of(v)].last = i;
    for (const ValueId v : n.results) ranges[index_of(v)] = {i, i};
  }
  for (const ValueId v : g.outputs) ranges[index_of(v)].last = steps;
  for (const Update& u : g.updates) ranges[index_of(u.next)].last = steps;
  return ranges;
}

std::vector<ArenaItem> arena_items(const Module& m, const Graph& g) {
  std::vector<ArenaItem> items;
  add_storages(g, items);
  add_scratch(m, g, items);
  return items;
}

std::vector<Interval> live_parts(const std::vector<ArenaItem>& items) {
  std::vector<Interval> live;
  for (const ArenaItem& item : items) {
    for (const BufferPart& part : item.parts) live.push_back(part.live);
    live.back().bytes += align_up(item.bytes, kArenaAlignment) - item.bytes;
  }
  return live;
}

std::map<ValueId, std::vector<BufferPart>> values_by_root(const Graph& g,
                                                          const std::function<StorageSpan(ValueId)>& storage) {
  const std::vector<LiveRange> ranges = live_ranges(g);
  std::map<ValueId, std::vector<BufferPart>> values;
  const auto add = [&](ValueId v) {
    const StorageSpan span = storage(v);
    const int64_t begin = std::max<int64_t>(ranges[index_of(v)].first, 0);
    const int64_t end = std::max(ranges[index_of(v)].last, begin) + 1;
    values[span.root].push_back({span.offset, {begin, end, g[v].type.bytes()}});
  };
  for (const ValueId v : g.inputs) add(v);
  for (const NodeId n : g.order)
    for (const ValueId v : g[n].results) add(v);
  return values;
}

std::vector<BufferPart> parts_of(const std::vector<BufferPart>& values) {
  constexpr int64_t kShort = 4096;  // bytes: biases between matrices would double the parts, and free nothing
  std::vector<std::pair<int64_t, const BufferPart*>> starts, stops;  // of values, by offset
  for (const BufferPart& v : values) {
    if (v.live.bytes == 0) continue;
    starts.emplace_back(v.offset, &v);
    stops.emplace_back(v.offset + v.live.bytes, &v);
  }
  std::sort(starts.begin(), starts.end());
  std::sort(stops.begin(), stops.end());
  std::multiset<int64_t> begins, ends;  // of the values that lie here
  std::vector<BufferPart> parts;
  const auto add = [&](int64_t from, int64_t to) {
    if (from == to || begins.empty()) return;
    const Interval live{*begins.begin(), *ends.rbegin(), to - from};
    Interval* last = parts.empty() ? nullptr : &parts.back().live;
    const bool same = last != nullptr && last->begin == live.begin && last->end == live.end;
    if (last == nullptr || (!same && live.bytes >= kShort && last->bytes >= kShort))
      return parts.push_back({from, live});
    *last = {std::min(last->begin, live.begin), std::max(last->end, live.end), last->bytes + live.bytes};
  };
  int64_t from = 0;
  for (size_t begun = 0, ended = 0; ended < stops.size();) {
    const bool begin = begun < starts.size() && starts[begun].first < stops[ended].first;
    const auto& [at, v] = begin ? starts[begun++] : stops[ended++];
    add(from, at);
    from = at;
    if (begin) {
      begins.insert(v->live.begin), ends.insert(v->live.end);
    } else {
      begins.erase(begins.find(v->live.begin)), ends.erase(ends.find(v->live.end));
    }
  }
  return parts;
}

}  // namespace heddle::ir
