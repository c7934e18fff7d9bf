// counted_seconds: predicts the seconds of a kernel on a GPU from its counts. It is the largest of the times of memory,
// caches, shared memory, schedulers and waiting, plus the time in which only the last block works.
#pragma once
#include "ir/kernel/count/kernel_counts.h"
#include "ir/kernel/target.h"

namespace heddle::ir {

// The number of blocks that are resident on a multiprocessor, with an estimate of their registers. If a kernel takes
// any number of blocks, the device launches this many.
int64_t resident_blocks(const KernelSchedule& schedule, const Target& target);

struct Work {
  double bytes = 0;  // operands and results once each
  double flops = 0;
  double rate = 1;  // peak flops per second: of fma, or of tensor cores
};
// A lower bound of the seconds, without the launch.
double least_seconds(const Work& work, const Target& target);
// The predicted seconds, without the launch.
double counted_seconds(const KernelCounts& counts, const KernelSchedule& schedule, const Work& work,
                       const Target& target);

}  // namespace heddle::ir
