// What codegen/device/7_collectives.cuh executes: sums over teams, blocks and all blocks.
#pragma once
#include "ir/kernel/count/kernel_counts.h"
#include "ir/kernel/plan_kernel.h"

namespace heddle::ir {

// A reduction's accumulator: how large it is, what merging two takes.
struct AccumulatorWork {
  int64_t bytes = 4;
  double accesses = 1;  // that move one: lanes exchange words, memory moves each of its members at once
  double merge = 1;
  int64_t offset = 0;  // of the blocks' sums, in the launch's scratch
};
AccumulatorWork accumulator_work(const Graph& kernel, const Node& n);

// combine: a team's sum in all of its threads; `warps` do it together.
void count_combine(const AccumulatorWork& a, const schedules::Rows& schedule, double warps, KernelCounts& to);
// put_columns, put_total: a block's sums into its part of the partial results.
void count_put_columns(const AccumulatorWork& a, const schedules::Rows& schedule, int64_t columns, KernelCounts& to);
void count_put_total(const AccumulatorWork& a, const schedules::Rows& schedule, KernelCounts& to);
// last_block and its like: `blocks` arrive at `meetings`, each of which has a last one.
void count_arrival(int64_t blocks, int64_t meetings, KernelCounts& to);
// add_blocks and its like: at each of the meetings its last adds up what `blocks` have left.
void count_add_blocks(const AccumulatorWork& a, int64_t blocks, int64_t meetings, int64_t columns, KernelCounts& to);
// get_column, get_total: the sum of all blocks, in the last one: in a thread for each column; of a
// total in all threads.
void count_get_column(const AccumulatorWork& a, int64_t columns, KernelCounts& to);
void count_get_total(const AccumulatorWork& a, KernelCounts& to);

}  // namespace heddle::ir
