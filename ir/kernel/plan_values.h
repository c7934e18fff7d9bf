// plan_values: the second half of plan_kernel, for schedules by rows and columns. It finds the extent and the pass of
// every value in one space.
#pragma once
#include "ir/kernel/plan_kernel.h"

namespace heddle::ir {

struct ValuesPlan {
  KernelPlan plan;
  bool affine = true;  // no division or remainder touches the column in any access
};
// Throws Refusal.
ValuesPlan plan_values(const Graph& kernel, const Dims& space);

// A bound of the counters of loops over all points of the space, with the last iteration's overshoot.
int64_t reach(const Dims& space);

// The number of blocks that have work. On a GPU a block takes at least one packet per thread. On the host, where a
// block is one thread, it takes at least the points that are worth waking a worker for.
int64_t most_blocks_of_points(const KernelPlan& plan, int64_t threads, int64_t packet);
// The same for teams, which take at least one row each.
int64_t most_blocks_of_rows(const KernelPlan& plan, int64_t threads, int64_t team);

}  // namespace heddle::ir
