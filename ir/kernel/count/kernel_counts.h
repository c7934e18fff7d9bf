// kernel_counts: what a GPU executes of a kernel of generated text, as a profiler would count it: found from the
// kernel's graph, its schedule and its index maps, without any text.
//
//   add of f32[4096], packet 4, 256 threads   ->   4 blocks; 1024 sectors read, 512 written; 32 warps' instructions
//
// Requests are counted at representative warps: the first, the last and some between.
#pragma once
#include "ir/graph.h"

namespace heddle::ir {

struct ContractPlan;

// Of a warp, one for its lanes together.
struct InstructionCounts {
  double values = 0;   // what elements are computed with: fma, comparisons, conversions, exchanges between lanes
  double indices = 0;  // addresses, conditions on coordinates, loops
  double memory = 0;   // loads, stores, atomic operations
  double total() const { return values + indices + memory; }
};

struct KernelCounts {
  int64_t blocks = 1, threads = 1;               // of the launch; of a block
  double sectors_read = 0, sectors_written = 0;  // of 32 bytes, as warps ask for them: what a cache answers counts, too
  double sectors_fetched = 0;  // those read, once for all elements of a packet: what the nearest cache leaves at least
  double shared_wavefronts = 0;  // of shared memory, each of which gives a word of each bank
  double ideal_wavefronts = 0;   // if no two words of a request lay in one bank
  InstructionCounts instructions;
  // Loads of global memory that wait for one another, in the thread that has most of them: a turn of a loop waits for
  // its loads before the next one asks for its own.
  double dependent_loads = 0;
  double dependent_inside = 0;      // those of loops inside a point, which mostly find what others have asked for
  double dependent_after_last = 0;  // those behind the last row, until all that blocks have left is added up
};
// `blocks`: of kernels that take any number, the most that the device gives.
KernelCounts count_kernel(const Graph& kernel, int64_t blocks);
// Of a product through tiles whose plan is known.
KernelCounts count_kernel(const Graph& kernel, const ContractPlan& product, int64_t blocks);

}  // namespace heddle::ir
