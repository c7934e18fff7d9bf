// kernel_counts: counts what a GPU executes in a kernel of generated text, as a profiler would. The counts come from
// the kernel's graph, schedule and index maps; no text is needed.
//
//   add of f32[4096], packet 4, 256 threads   ->   4 blocks; 1024 sectors read, 512 written; 32 warps' instructions
//
// Requests are counted for representative warps: the first, the last and some between.
#pragma once
#include "ir/graph.h"

namespace heddle::ir {

struct ContractPlan;

// Numbers of warp instructions: one counts for all lanes of a warp.
struct InstructionCounts {
  double values = 0;   // compute elements: fma, comparisons, conversions, exchanges between lanes
  double indices = 0;  // addresses, conditions on coordinates, loops
  double memory = 0;   // loads, stores, atomic operations
  double total() const { return values + indices + memory; }
};

struct KernelCounts {
  int64_t blocks = 1, threads = 1;               // of the launch; of a block
  double sectors_read = 0, sectors_written = 0;  // sectors of 32 bytes that warps request, cache hits included
  double sectors_fetched = 0;    // sectors read, counted once for all elements of a packet: least traffic after L1
  double shared_wavefronts = 0;  // of shared memory; a wavefront gives one word of each bank
  double ideal_wavefronts = 0;   // the same without bank conflicts
  InstructionCounts instructions;
  // The longest chain of global loads in a thread, in which each load waits for the one before. An iteration of a loop
  // waits for its loads before the next iteration issues its own.
  double dependent_loads = 0;
  double dependent_inside = 0;      // part of it: loops inside a point, whose loads mostly hit data of other threads
  double dependent_after_last = 0;  // part of it: after the last row, until the sums of all blocks are added up
};
// `blocks`: the most blocks that the device launches, for kernels that take any number.
KernelCounts count_kernel(const Graph& kernel, int64_t blocks);
// The same for a tiled product whose plan is known.
KernelCounts count_kernel(const Graph& kernel, const ContractPlan& product, int64_t blocks);

}  // namespace heddle::ir
