// warp_points: the coordinates of a launch's warps in the loops over rows and columns, at a few representative
// iterations.
//
//   64 rows of 128 columns, packet 4, a team of 32   ->   64 turns of warps; at turn 8 lane 3 is at row 8, column 12
#pragma once
#include "ir/kernel/count/count_body.h"

namespace heddle::ir {

// The numbers of iterations, and representative points of them.
struct Turns {
  WarpTimes times;
  std::vector<WarpPoint> points;
};
// The loop over points, which all threads of `blocks` blocks share, a packet each; then the loop of teams over rows.
Turns point_turns(int64_t threads, int64_t packet, const Dims& space, int64_t blocks);
Turns row_turns(const schedules::Rows& schedule, const Dims& space, int64_t blocks);
Turns column_turns(int64_t columns);  // the threads of one block
Turns one_thread();
// The loop over the points of tiles in this space. `down`: neighbouring lanes take neighbouring rows, else columns.
std::vector<WarpPoint> tile_points(const Dims& space, bool down);

// Numbers from 0 to count - 1: all of them, or at most `most` representative ones.
std::vector<int64_t> some_of(int64_t count, int64_t most);

}  // namespace heddle::ir
