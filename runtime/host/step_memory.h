// StepMemory: while one lives, `new` on its thread takes memory from a fixed block instead of the heap.
//
//   const StepMemory scope;
//   dnnl_primitive_execute(...);   // the three to seven small objects it makes and destroys cost no allocation
//
// It serves library calls within a step, which allocate internally. It does not serve calls of malloc: oneDNN 3 makes
// some for parts of some primitives, and every version for products without AVX-512.
//
// An object may outlive the scope, for example one that a library makes once per thread. A thread has kBlocks blocks. A
// block is reused from its start only when all objects taken from it have been returned; until then another block
// serves. When all blocks are full, or there are more than kThreads threads, the heap serves. Under AddressSanitizer,
// which has its own operator new, a StepMemory does nothing.
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
  static void leave_thread();  // a thread calls this when it ends, so that another may take its blocks

  // For operator new and delete (runtime/host/heap.cpp). `take` returns nullptr where there is no scope or no block has
  // room. `give_back` returns whether `p` came from `take`.
  static void* take(size_t bytes, size_t align);
  static bool give_back(void* p);

  StepMemory(const StepMemory&) = delete;
  StepMemory& operator=(const StepMemory&) = delete;
};

}  // namespace heddle::runtime
