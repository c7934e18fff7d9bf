// Pack intervals: gives each buffer an offset in one arena, so that buffers that live at the same time do not overlap.
//
//   live [0, 2) 256 bytes, [1, 3) 256 bytes, [2, 4) 512 bytes  ->  offsets 0, 512, 0 in 768 bytes
//
// A buffer may have parts with different live ranges. It is placed as a whole; other buffers may lie in a part while
// that part is not needed.
//
// Offline dynamic storage allocation is NP-hard (Garey and Johnson 1979, problem SR2). A portfolio of greedy orders,
// followed by a short local search, comes within one percent of the lower bound for training steps. The result is
// deterministic: iterations limit the search, not time. This file does not depend on graphs.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "ir/index/interval.h"

namespace heddle::passes {

using ir::Interval;

// A buffer whose parts have live ranges of their own.
struct Buffer {
  int64_t bytes = 0;
  std::vector<ir::BufferPart> parts;  // side by side, from offset 0 on: all bytes
};

struct Packing {
  std::vector<int64_t> offsets;  // one per buffer, multiples of the alignment
  int64_t bytes = 0;             // of the arena
  int64_t max_live = 0;  // lower bound: the largest sum of live sizes, each buffer's rounded up to the alignment
};

Packing pack_buffers(std::span<const Buffer> buffers, int64_t alignment);
Packing pack_intervals(std::span<const Interval> intervals, int64_t alignment);  // buffers of one part each

}  // namespace heddle::passes
