// Storage: the bytes in which a value lies, and the steps during which they are needed. This file computes roots,
// offsets and live ranges. The memory passes plan with them, `lower` takes addresses from them, and the verifier and
// the planned evaluator check with them.
//
//   %a: f32[8] = exp(%x) at 256              root %a, offset  0
//   %y: f32[4] = slice(%a) at %a + 16        root %a, offset 16: a view, whose bytes are those of %a
//   %z: f32[4] = neg(%y) at %y               root %a, offset 16: in place, after the last step that reads %y
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "ir/index/interval.h"

namespace heddle::ir {

inline constexpr int64_t kArenaAlignment = 256;  // bytes; GPU allocations and library calls expect it
inline constexpr int64_t kViewAlignment = 16;    // bytes; the widest load of a thread

// Whether the value outlives a step or a turn: a parameter, a buffer, a state, the cursor, the ring, or a carry. Each
// has a storage outside the arena.
bool is_state(const Value& v);
bool is_named_state(const Value& v);  // a parameter, a buffer or a state: those that files and messages may name
bool is_feeding(const Value& v);      // the cursor, or the ring

// Whether every row of an array of such rows is aligned for wide loads.
bool lies_aligned(const Type& row);
// Whether an input lies outside the arena: states, and the inputs of a body that its scan places: `fixed`, `carry`, and
// slices with aligned rows. Other slices are copied into the body's arena first.
bool lies_outside(const Value& input);
// The outputs of a body that are computed directly in the turn's row of the scan's stacked result. By ValueId index of
// the output's root: the number of the output; -1: none.
std::vector<int> stacked_in_place(const Graph& body);

// The bytes of the arena that a node needs while it runs: a kernel's workspace, or the arena of a body.
int64_t scratch_bytes(const Module& m, const Node& n);

// The bytes from `offset` on in the storage of `root`. A root has an offset in the arena, or lies outside it.
struct StorageSpan {
  ValueId root;
  int64_t offset = 0;
  bool operator==(const StorageSpan&) const = default;
};
StorageSpan storage_of(const Graph& g, ValueId v);  // follows the bases of places, which must not form a cycle

// The bytes of a value. Segment 0 is the arena; each storage outside it is another segment.
struct ByteRange {
  size_t segment = 0;
  int64_t begin = 0, size = 0;
  int64_t end() const { return begin + size; }
  bool meets(const ByteRange& o) const { return segment == o.segment && begin < o.end() && o.begin < end(); }
  bool operator==(const ByteRange&) const = default;
};
struct ByteRanges {
  std::vector<ByteRange> of;      // by ValueId index
  std::vector<int64_t> segments;  // bytes of each segment
};
ByteRanges byte_ranges(const Graph& g);

// Flags by ValueId index: 1 for states that the graph updates. Outputs and next values must not be views of such a
// state, because the updates are executed before they are read.
std::vector<char> updated_states(const Graph& g);

// By ValueId index: the storage of each value if every possible view is taken. A view is a movement that only renames
// bytes, at an offset that keeps wide loads aligned. Call it before places are assigned. `refused` receives the reason
// if a movement cannot be a view.
std::vector<StorageSpan> view_spans(const Graph& g,
                                    const std::function<void(ValueId, const std::string&)>& refused = {});

// The steps at which a value's elements are needed; step i runs g.order[i].
struct LiveRange {
  int64_t first = -1;  // the step that computes it; -1: an input, which exists before the first step
  int64_t last = -1;   // the last step that reads it; for outputs and next values of states, the number of steps
};
std::vector<LiveRange> live_ranges(const Graph& g);  // by ValueId index

// Bytes of the arena with their live range: the storage of one or more values, or the scratch of a call. In the storage
// of all gradients each part is needed from the step on that computes its gradient: until then other values may lie
// there.
struct ArenaItem {
  int64_t bytes = 0;
  ValueId root;  // invalid: the scratch of `call`
  NodeId call;
  std::vector<BufferPart> parts;  // side by side, from offset 0 on: all bytes
};
std::vector<ArenaItem> arena_items(const Module& m, const Graph& g);
// The parts of all, of which the last of each item ends at a multiple of the arena's alignment.
std::vector<Interval> live_parts(const std::vector<ArenaItem>& items);

// The parts of a buffer whose bytes these values cover: neighbours that are needed during the same steps are one, and
// short ones join a neighbour.
std::vector<BufferPart> parts_of(const std::vector<BufferPart>& values);
// The values of the graph by their roots, each with its place in the root's storage and its live range. `storage` says
// where a value lies.
std::map<ValueId, std::vector<BufferPart>> values_by_root(const Graph& g,
                                                          const std::function<StorageSpan(ValueId)>& storage);

}  // namespace heddle::ir
