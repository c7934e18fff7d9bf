#include "codegen/lower_memory.h"

#include "ir/check.h"
#include "ir/scan.h"
#include "ir/storage/storage.h"

namespace heddle::codegen {

using namespace ir;

int64_t StateTable::reserve(int64_t size, int64_t alignment) {
  int64_t at = align_up(bytes, alignment);
  bytes = at + size;
  return at;
}

Buffer buffer(const Value& v, BufferRole role, const Address& at) {
  return {.name = v.name,
          .dtype = to_string(v.type.dtype),
          .dims = logical_dims(v.type.dims, v.layout),
          .bytes = v.type.bytes(),
          .at = at,
          .role = role,
          .layout = v.layout};
}

namespace {

BufferRole role_of(Role role) {
  return role == Role::param ? BufferRole::param : role == Role::buffer ? BufferRole::buffer : BufferRole::state;
}

const StateGroup* find_group(const Module& m, const std::string& name) {
  for (const StateGroup& group : m.groups)
    if (group.name == name) return &group;
  return nullptr;
}

void add_state(StateTable& table, const Module& m, const Value& v) {
  if (table.offsets.count(v.name)) return;
  int64_t at = table.reserve(v.type.bytes());
  table.offsets[v.name] = at;
  const StateGroup* group = find_group(m, v.name);
  if (!group) {
    table.buffers.push_back(buffer(v, role_of(v.role), {Segment::state, at}));
    return;
  }
  for (const StateMember& member : group->members) {
    Address place{Segment::state, at + member.offset * bits(member.type.dtype) / 8};
    Value alone;
    alone.name = member.name, alone.type = member.type, alone.layout = member.layout;
    table.buffers.push_back(buffer(alone, role_of(member.role), place));
  }
}

}  // namespace

StateTable state_table(const Module& m) {
  StateTable table;
  for (const Graph& g : m.graphs)
    for (ValueId v : g.inputs)
      if (is_named_state(g[v])) add_state(table, m, g[v]);
  for (const Graph& g : m.graphs)
    for (ValueId v : g.inputs)
      if (g[v].role == Role::cursor && table.cursor < 0) table.cursor = table.reserve(g[v].type.bytes());
  return table;
}

Frame entry_frame(const Graph& g, const StateTable& states) {
  Frame frame{g, {Segment::arena, 0}, {}, 0};
  for (const ValueId v : g.inputs)
    if (is_named_state(g[v]))
      frame.outside[v] = {Segment::state, states.offsets.at(g[v].name)};
    else if (is_feeding(g[v]))
      frame.outside[v] = g[v].role == Role::ring ? Address{Segment::ring, 0} : Address{Segment::state, states.cursor};
  return frame;
}

Address row(const Address& all, const Type& row, const Node& scan, size_t depth) {
  Address at = all;
  at.strides.resize(depth + 1);
  at.strides[depth] = is_reversed(scan) ? -row.bytes() : row.bytes();
  if (is_reversed(scan)) at.offset += (turns(scan) - 1) * row.bytes();
  return at;
}

Frame body_frame(const Graph& body, const Frame& around, const Node& scan) {
  Frame frame{body, around.arena, {}, around.depth + 1};
  frame.arena.offset += std::get<int64_t>(attribute(*scan.op, scan.attrs, "workspace_at"));
  const std::vector<ValueId> inputs = operand_inputs(body);
  size_t carries = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Value& in = body[inputs[i]];
    if (!lies_outside(in)) continue;
    const Address given =
        in.role == Role::carry ? address(around, scan.results[carries++]) : address(around, scan.operands[i]);
    frame.outside[inputs[i]] = in.role == Role::slice ? row(given, in.type, scan, around.depth) : given;
  }
  const std::vector<int> stacked = stacked_in_place(body);
  for (size_t i = 0; i < stacked.size(); ++i) {
    if (stacked[i] < 0) continue;
    const ValueId root{static_cast<int32_t>(i)};
    const Address all = address(around, scan.results[carries + static_cast<size_t>(stacked[i])]);
    frame.outside[root] = row(all, body[root].type, scan, around.depth);
  }
  return frame;
}

Address address(const Frame& frame, ValueId v) {
  const StorageSpan span = storage_of(frame.graph, v);
  const Value& root = frame.graph[span.root];
  const auto outside = frame.outside.find(span.root);
  HEDDLE_CHECK(outside != frame.outside.end() || root.place.placed(), "%" + root.name + " has no place");
  Address at = outside != frame.outside.end() ? outside->second : frame.arena;
  at.offset += span.offset + (outside != frame.outside.end() ? 0 : root.place.offset);
  return at;
}

int64_t max_live_bytes(const Module& m, const Graph& g) {
  std::vector<Interval> intervals;
  for (const ArenaItem& item : arena_items(m, g)) intervals.push_back(item.live);
  return ir::max_live_bytes(intervals, kArenaAlignment);
}

}  // namespace heddle::codegen
