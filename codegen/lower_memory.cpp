#include "codegen/lower_memory.h"

#include "ir/check.h"

namespace heddle::codegen {

using namespace ir;

int64_t align_up(int64_t bytes, int64_t alignment) { return (bytes + alignment - 1) / alignment * alignment; }

int64_t StateTable::reserve(int64_t size, int64_t alignment) {
  int64_t at = align_up(bytes, alignment);
  bytes = at + size;
  return at;
}

Buffer buffer(const Value& v, const std::string& role, const Address& at) {
  return {v.name, to_string(v.type.dtype), v.type.dims, v.type.bytes(), at, role};
}

namespace {

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
    table.buffers.push_back(buffer(v, to_string(v.role), {Segment::state, at}));
    return;
  }
  for (const StateMember& member : group->members) {
    Address place{Segment::state, at + member.offset * bits(member.type.dtype) / 8};
    table.buffers.push_back({member.name, to_string(member.type.dtype), member.type.dims, member.type.bytes(), place,
                             to_string(member.role)});
  }
}

bool is_state(const Value& v) { return v.role == Role::param || v.role == Role::state; }

// The value whose storage `v` lies in.
ValueId storage(const Graph& g, ValueId v) {
  while (g[v].place.base.valid()) v = g[v].place.base;
  return v;
}

struct Live {
  int begin = -1, end = -1;
  int64_t bytes = 0;
};

// Live ranges of the storages in the arena, by the ValueId index of the storage; empty ranges have begin = -1.
std::vector<Live> live_ranges(const Graph& g) {
  std::vector<int> position = g.positions();
  int last = static_cast<int>(g.order.size());
  std::vector<Live> ranges(g.value_count());
  auto touch = [&](ValueId v, int at) {
    ValueId root = storage(g, v);
    if (is_state(g[root]) || !g[root].place.placed()) return;
    Live& live = ranges[static_cast<size_t>(root.index)];
    live.bytes = align_up(g[root].type.bytes());
    live.begin = live.begin < 0 ? at : std::min(live.begin, at);
    live.end = std::max(live.end, at);
  };
  auto define = [&](ValueId v, int at) {
    touch(v, at);
    for (NodeId use : g[v].uses) touch(v, position[static_cast<size_t>(use.index)]);
    if (g.is_output(v) || g.is_next(v)) touch(v, last);
  };
  for (ValueId v : g.inputs) define(v, 0);
  for (NodeId n : g.order)
    for (ValueId v : g[n].results) define(v, position[static_cast<size_t>(n.index)]);
  return ranges;
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
  const Value& value = g[v];
  if (is_state(value)) return {Segment::state, states.offsets.at(value.name)};
  HEDDLE_CHECK(value.place.placed(), "%" + value.name + " has no place");
  if (!value.place.base.valid()) return {Segment::arena, value.place.offset};
  Address base = address(g, value.place.base, states);
  return {base.segment, base.offset + value.place.offset};
}

int64_t max_live_bytes(const Module& m, const Graph& g) {
  std::vector<int64_t> change(g.order.size() + 2, 0);
  for (const Live& live : live_ranges(g)) {
    if (live.begin < 0) continue;
    change[static_cast<size_t>(live.begin)] += live.bytes;
    change[static_cast<size_t>(live.end) + 1] -= live.bytes;
  }
  int64_t now = 0, most = 0;
  for (size_t i = 0; i <= g.order.size(); ++i) {
    now += change[i];
    const Graph* kernel = i < g.order.size() ? m.find_kernel(g[g.order[i]].callee) : nullptr;
    int64_t scratch = kernel && kernel->form ? align_up(kernel->form->workspace) : 0;
    most = std::max(most, now + scratch);
  }
  return most;
}

}  // namespace heddle::codegen
