// plan_values: the second half of plan_kernel, of schedules by rows and columns: the extent and the
// pass of every value in one space.
#pragma once
#include "ir/kernel/plan_kernel.h"

namespace heddle::ir {

struct ValuesPlan {
  KernelPlan plan;
  bool affine = true;  // no division or remainder touches the column in any access
};
// Throws Refusal.
ValuesPlan plan_values(const Graph& kernel, const Dims& space);

// How far the counters of loops over all points go.
int64_t reach(const Dims& space);

// A block takes at least one packet for each of its threads. Where it is one thread, a worker of
// the host, it takes what is worth waking a worker for.
int64_t most_blocks_of_points(const KernelPlan& plan, int64_t threads, int64_t packet);
// Of teams a row for each.
int64_t most_blocks_of_rows(const KernelPlan& plan, int64_t threads, int64_t team);

}  // namespace heddle::ir
