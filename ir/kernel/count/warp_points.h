// warp_points: where the warps of a launch are in the loops over rows and columns, at a few representative turns.
//
//   64 rows of 128 columns, packet 4, a team of 32   ->   64 turns of warps; at turn 8 lane 3 is at row 8, column 12
#pragma once
#include "ir/kernel/count/count_body.h"

namespace heddle::ir {

// The loops' turns and points of them. Blocks and threads of the launch are `blocks` and `threads`.
struct Turns {
  WarpTimes times;
  std::vector<WarpPoint> points;
};
// All threads share the points, a packet each; teams have rows.
Turns point_turns(int64_t threads, int64_t packet, const Dims& space, int64_t blocks);
Turns row_turns(const schedules::Rows& schedule, const Dims& space, int64_t blocks);
Turns column_turns(int64_t columns);  // the threads of one block
Turns one_thread();
// The loop over the points of tiles in this space: neighbouring lanes take neighbouring rows, or columns.
std::vector<WarpPoint> tile_points(const Dims& space, bool down);

// Some of `count` places, at most `most`: all where there are few.
std::vector<int64_t> some_of(int64_t count, int64_t most);

}  // namespace heddle::ir
