// columns_meet: how blocks that come last add up what others have left of the sums of columns.
//
//   132 blocks, 64 columns, 128 threads, f32   ->   2 lanes share a column: 66 blocks each, all of them at once
#pragma once
#include <cstdint>
#include <vector>

namespace heddle::ir {

struct ColumnsMeet {
  int64_t shares = 1;   // lanes that share a column: lane i of n adds up blocks i, i + n, i + 2n ...
  int64_t at_once = 1;  // blocks whose sums a lane loads before it adds them, in their order,
  int64_t abreast = 1;  // of so many of its columns
  int64_t turns = 1;    // of loads that wait for one another
};
// `threads` add up sums of `bytes` that `blocks` have left. Depends on nothing but the schedule and
// the shape, so that the order of additions does not, either.
ColumnsMeet columns_meet(int64_t threads, int64_t blocks, int64_t columns, int64_t bytes);

// Of many blocks with many columns one would add all while the others are idle. The number of blocks in a group, whose
// last adds up the group's, so that the last of the groups adds up theirs; `blocks` where one may as well add all at
// once. `bytes`: of a sum of each of the reductions.
int64_t blocks_gather(int64_t threads, int64_t blocks, int64_t columns, const std::vector<int64_t>& bytes);

}  // namespace heddle::ir
