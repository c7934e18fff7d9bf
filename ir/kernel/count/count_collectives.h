// Counts what the functions of codegen/device/7_collectives.cuh execute: sums over teams, blocks and all blocks.
#pragma once
#include "ir/kernel/count/kernel_counts.h"
#include "ir/kernel/plan_kernel.h"

namespace heddle::ir {

// The size of a reduction's accumulator, and the cost of moving and merging it.
struct AccumulatorWork {
  int64_t bytes = 4;
  double accesses = 1;  // instructions that move one
  double merge = 1;     // instructions that merge two
  int64_t offset = 0;   // of the blocks' accumulators, in the launch's scratch
};
AccumulatorWork accumulator_work(const Graph& kernel, const Node& n);

// hd::combine: the sum of a team, in all of its threads. `warps` warps execute it.
void count_combine(const AccumulatorWork& a, const schedules::Rows& schedule, double warps, KernelCounts& to);
// hd::put_columns, hd::put_total: a block writes its sums to its part of the partial results.
void count_put_columns(const AccumulatorWork& a, const schedules::Rows& schedule, int64_t columns, KernelCounts& to);
void count_put_total(const AccumulatorWork& a, const schedules::Rows& schedule, KernelCounts& to);
// hd::last_block, last_of_group, last_group: `blocks` arrive at `meetings`; each meeting has a last block.
void count_arrival(int64_t blocks, int64_t meetings, KernelCounts& to);
// hd::add_blocks, add_group, add_groups: the last block of each meeting adds up the sums of `blocks`.
void count_add_blocks(const AccumulatorWork& a, int64_t blocks, int64_t meetings, int64_t columns, KernelCounts& to);
// hd::get_column, hd::get_total: the last block reads the sum of all blocks: one thread per column, or for a total all
// threads.
void count_get_column(const AccumulatorWork& a, int64_t columns, KernelCounts& to);
void count_get_total(const AccumulatorWork& a, KernelCounts& to);

}  // namespace heddle::ir
