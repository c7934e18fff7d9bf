// Storage: in which bytes a value lies, and during which steps they are needed. Roots, offsets and
// live ranges are computed here: schedule, alias and pack plan by it, lower takes addresses from
// it, the verifier and the planned evaluator check it.
//
//   %a: f32[8] = exp(%x) at 256              root %a, offset  0
//   %y: f32[4] = slice(%a) at %a + 16        root %a, offset 16: a view, whose bytes are those of %a
//   %z: f32[4] = neg(%y) at %y               root %a, offset 16: in place, after the last step that reads %y
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "ir/index/interval.h"

namespace heddle::ir {

inline constexpr int64_t kArenaAlignment = 256;  // bytes; what GPU allocations and library calls expect
inline constexpr int64_t kViewAlignment = 16;    // bytes; the widest load of a thread

// Parameters and states outlive a step, carries outlive a turn: they lie outside the arena, one storage each.
bool is_state(const Value& v);
bool is_named_state(const Value& v);  // which files and messages may speak of: a parameter, a buffer or a state
bool is_feeding(const Value& v);      // the cursor, or the ring

// What a body finds where its scan says: carries, what is the same in all turns, and slices that keep wide loads
// aligned. Other slices are copied into the body's arena first.
bool lies_aligned(const Type& row);  // of an array of such rows, each of them does
bool lies_outside(const Value& input);
// By ValueId index of roots: which outputs of a body are computed where the scan's result has this turn's row, as number
// of the output; -1: none.
std::vector<int> stacked_in_place(const Graph& body);

// The bytes of the arena that a node needs while it runs: a kernel's workspace, or the arena of a body.
int64_t scratch_bytes(const Module& m, const Node& n);

// Bytes from `offset` on in the storage of `root`, which has a place of its own or is a state.
struct StorageSpan {
  ValueId root;
  int64_t offset = 0;
  bool operator==(const StorageSpan&) const = default;
};
StorageSpan storage_of(const Graph& g, ValueId v);  // follows the bases of places, which must not form a cycle

// The bytes of a value. Segment 0 is the arena; a storage outside it is a segment of its own.
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

// By ValueId index: states that the graph updates. What leaves the graph must not lie in one, since updates come first.
std::vector<char> updated_states(const Graph& g);

// What each value would be a view of if every view were taken: movements that only rename bytes, at offsets that keep
// wide loads aligned. By ValueId index, before places are given. `refused` hears why a movement is no view.
std::vector<StorageSpan> view_spans(const Graph& g,
                                    const std::function<void(ValueId, const std::string&)>& refused = {});

// The steps at which a value's elements are needed; step i runs g.order[i].
struct LiveRange {
  int64_t first = -1;  // the step that computes it; -1: an input, there before the first step
  int64_t last = -1;   // the last step that reads it; the number of steps where it leaves the graph
};
std::vector<LiveRange> live_ranges(const Graph& g);  // by ValueId index

// What takes room in the arena, and when: the storage of one or more values, or the scratch of a call. Of the storage of
// all gradients, each part is needed from the step on that computes its gradient: until then others may lie there.
struct ArenaItem {
  Interval live;  // the whole, from the first to the last step at which any part is needed
  ValueId root;   // invalid: scratch of `call`
  NodeId call;
  std::vector<BufferPart> parts;  // side by side, from offset 0 on: all bytes
};
std::vector<ArenaItem> arena_items(const Module& m, const Graph& g);
// The parts of all, of which the last of each item ends at a multiple of the arena's alignment.
std::vector<Interval> live_parts(const std::vector<ArenaItem>& items);

// The parts of a buffer whose bytes these values cover: neighbours that are needed during the same steps are one, and short
// ones join a neighbour.
std::vector<BufferPart> parts_of(const std::vector<BufferPart>& values);

}  // namespace heddle::ir
