#include "codegen/lower_memory.h"

#include "ir/check.h"
#include "ir/op_def.h"
#include "ir/storage/storage.h"
#include "ir/storage/turn_places.h"

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

namespace {

Address moved(Address at, const RowPlace& by, size_t depth) {
  at.offset += by.offset;
  if (by.stride == 0) return at;
  at.strides.resize(depth + 1);
  at.strides[depth] = by.stride;
  return at;
}

}  // namespace

Address row(const Address& all, const Type& row, const Node& scan, size_t depth) {
  return moved(all, row_place(row, scan), depth);
}

Frame body_frame(const Graph& body, const Frame& around, const Node& scan) {
  Frame frame{body, around.arena, {}, around.depth + 1};
  frame.arena.offset += std::get<int64_t>(attribute(*scan.op, scan.attrs, "workspace_at"));
  for (const auto& [root, place] : turn_places(body, scan)) {
    const Values& values = place.of_result ? scan.results : scan.operands;
    frame.outside[root] = moved(address(around, values[place.number]), place.at, around.depth);
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
  return ir::max_live_bytes(live_parts(arena_items(m, g)), /*alignment=*/1);
}

}  // namespace heddle::codegen
