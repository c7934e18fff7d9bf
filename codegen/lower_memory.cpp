#include "codegen/lower_memory.h"

#include "ir/check.h"
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
      if (is_state(g[v])) add_state(table, m, g[v]);
  return table;
}

Address address(const Graph& g, ValueId v, const StateTable& states) {
  const StorageSpan span = storage_of(g, v);
  const Value& root = g[span.root];
  if (is_state(root)) return {Segment::state, states.offsets.at(root.name) + span.offset};
  HEDDLE_CHECK(root.place.placed(), "%" + root.name + " has no place");
  return {Segment::arena, root.place.offset + span.offset};
}

int64_t max_live_bytes(const Module& m, const Graph& g) {
  std::vector<Interval> intervals;
  for (const ArenaItem& item : arena_items(m, g)) intervals.push_back(item.live);
  return ir::max_live_bytes(intervals, kArenaAlignment);
}

}  // namespace heddle::codegen
