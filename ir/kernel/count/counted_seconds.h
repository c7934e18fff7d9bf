// counted_seconds: how long a GPU takes for what is counted of a kernel: the longest of what
// memory, caches, shared memory, schedulers and waiting each ask for, then what the last block does
// alone.
#pragma once
#include "ir/kernel/count/kernel_counts.h"
#include "ir/kernel/target.h"

namespace heddle::ir {

// What a multiprocessor holds at once, by the registers of about as much text: for the device takes as many blocks as
// it has room for, of kernels that take any number.
int64_t resident_blocks(const KernelSchedule& schedule, const Target& target);

struct Work {
  double bytes = 0;  // operands and results once each
  double flops = 0;
  double rate = 1;  // flops per second at the most: of fma, or of tensor cores
};
// Without the launch: no execution takes less.
double least_seconds(const Work& work, const Target& target);
double counted_seconds(const KernelCounts& counts, const KernelSchedule& schedule, const Work& work,
                       const Target& target);

}  // namespace heddle::ir
