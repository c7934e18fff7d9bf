// StepMemory: while one lives, `new` on its thread takes from a block of fixed memory instead of
// the heap.
//
//   const StepMemory scope;
//   dnnl_primitive_execute(...);   // the three to seven small objects it makes and destroys cost no allocation
//
// For library calls within a step, which allocate nothing of ours but do so behind our back. Two
// things are not served: oneDNN 3 also asks malloc itself for parts of some primitives, and each
// version does for products without AVX-512.
//
// An object may outlive the scope, as what a library makes once for each thread does. A thread has
// kBlocks blocks, and uses one from the start again only when everything taken from it has been
// returned; meanwhile another one serves. When all are full, or there are more than kThreads
// threads, the heap serves. Under AddressSanitizer, which has its own operator new, a StepMemory
// does nothing.
#pragma once
#include <cstddef>

namespace heddle::runtime {

class StepMemory {
 public:
  static constexpr size_t kBytes = 16384;  // of one block
  static constexpr int kBlocks = 4;        // of one thread
  static constexpr int kThreads = 256;
  static const bool active;  // whether this build has it

  StepMemory();
  ~StepMemory();
  static void leave_thread();  // to be called by a thread that ends: another may have its blocks

  // For operator new and delete (runtime/host/heap.cpp): nullptr where no scope or no block has
  // room; whether `p` is ours.
  static void* take(size_t bytes, size_t align);
  static bool give_back(void* p);

  StepMemory(const StepMemory&) = delete;
  StepMemory& operator=(const StepMemory&) = delete;
};

}  // namespace heddle::runtime
