// columns_meet: how the last block adds up the column sums that all blocks have written to memory.
//
//   132 blocks, 64 columns, 128 threads, f32   ->   2 lanes share a column: 66 blocks each, all of them at once
#pragma once
#include <cstdint>
#include <vector>

namespace heddle::ir {

struct ColumnsMeet {
  int64_t shares = 1;   // lanes that share a column: lane i of n adds up blocks i, i + n, i + 2n ...
  int64_t at_once = 1;  // a lane loads the sums of this many blocks before it adds them, in order,
  int64_t abreast = 1;  // for this many of its columns at once
  int64_t turns = 1;    // rounds of loads; each round waits for the one before
};
// For `threads` that add up the sums of `blocks`, `bytes` each. The answer depends only on the schedule and the shape,
// so the order of additions is fixed.
ColumnsMeet columns_meet(int64_t threads, int64_t blocks, int64_t columns, int64_t bytes);

// With many blocks and many columns, one last block would add up everything while the others are idle. So blocks form
// groups: the last block of each group adds up the group, and the last group adds up the groups. Returns the number of
// blocks in a group; `blocks` if groups do not pay. `bytes`: the size of a sum, for each of the reductions.
int64_t blocks_gather(int64_t threads, int64_t blocks, int64_t columns, const std::vector<int64_t>& bytes);

}  // namespace heddle::ir
