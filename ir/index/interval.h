// Interval: a number of bytes with its live range. max_live_bytes is the peak of a set of intervals.
//
//   live [0, 2) 256 bytes, [1, 3) 256 bytes, [2, 4) 512 bytes  ->  768 bytes at step 2
#pragma once
#include <cstdint>
#include <span>

namespace heddle::ir {

struct Interval {
  int64_t begin = 0, end = 0;  // steps; live in [begin, end)
  int64_t bytes = 0;
};

// A part of a buffer, at `offset` within it, with its live range.
struct BufferPart {
  int64_t offset = 0;
  Interval live;
};

// Rounds up to a multiple of the alignment.
int64_t align_up(int64_t bytes, int64_t alignment);

// The largest sum of live sizes at one step, each rounded up to the alignment. No arena can be smaller.
int64_t max_live_bytes(std::span<const Interval> intervals, int64_t alignment);

}  // namespace heddle::ir
