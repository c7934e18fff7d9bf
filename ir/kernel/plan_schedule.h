// plan_schedule: the last part of plan_kernel: what a kernel's blocks and threads do, once it is
// known how each value is computed.
//
//   two column sums of 32 columns, 8 blocks:   partials at bytes 0 and 1024 of the launch's scratch
#pragma once
#include "ir/kernel/plan_kernel.h"

namespace heddle::ir {

// Sets `span`, `draws`, `partials`, `partial_bytes`, `gather`, `counters`, `kept` and, but of form
// tile, `most_blocks`. Of form contract the plan has them already.
void plan_schedule(const Graph& kernel, KernelPlan& plan);

}  // namespace heddle::ir
