// Matrix products and convolutions by oneDNN, as a fixed number of slices that one thread each
// executes.
//
//   Library{impl = "onednn", op = "matmul", operands = {f32[128,784], f32[128,784]}, results = {f32[128,128]},
//           integers = {transpose_b = {1}}, epilogue = {"bias", "relu"}, slices = 4}
//   -> four one-thread primitives over 32 rows each
//
// How the work is cut depends on the call alone, never on the number of threads, so the bits of a
// result do not either. A filter gradient is cut along the batch. Partial results, of its slices
// and of the runs that long sums are cut into, are added in doubles. All scratch memory, packed
// weights and partial results lie in the call's workspace, whose size is known without running
// anything.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "codegen/program.h"
#include "runtime/host/thread_pool.h"

namespace heddle::runtime {

// What oneDNN says of a call. Builds the primitives, runs nothing. The call's addresses and workspace are not read.
struct OnednnNeeds {
  int64_t workspace = -1;  // bytes; -1 where it cannot take the call
  std::string refusal;     // why: "dtype i32"; empty where it can
};
OnednnNeeds onednn_needs(const codegen::Library& call);

// One call bound to its memory: primitives are built once, `run` only executes them.
class OnednnCall {
 public:
  // `arguments` are the addresses of operands, then results; `workspace` has
  // onednn_needs(call).workspace bytes, 64-byte aligned. Throws UserError when the call's planned
  // workspace is smaller than what this version of oneDNN needs. `next`: inside of loops, where the arguments are one
  // turn later of each loop, the outermost first; empty where that loop does not move them.
  OnednnCall(const codegen::Library& call, std::span<void* const> arguments, void* workspace,
             const std::vector<std::vector<void*>>& next = {});
  ~OnednnCall();
  OnednnCall(OnednnCall&&) noexcept;

  void run(ThreadPool& pool);
  void advance(size_t loop, int64_t turns);  // moves the arguments to where they are so many turns later

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// To be called by each thread before it runs a call, so that no step allocates: OpenMP sets up what is a thread's own.
void onednn_prepare_thread();
std::string onednn_version();  // "2.6.3"
int64_t onednn_code_bytes();   // that a process has of it in memory, at most: measured with 2.6.3 and 3.2.0
// Whether products of bytes are exact and fast here: where AVX-512 has VNNI. Without, oneDNN adds two products in 16 bits.
bool onednn_multiplies_bytes();
std::string onednn_instructions();  // the widest that it uses here, or that ONEDNN_MAX_CPU_ISA leaves: "AVX2"

}  // namespace heddle::runtime
