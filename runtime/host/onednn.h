// Matrix products and convolutions by oneDNN, cut into a fixed number of slices. One thread executes each slice.
//
//   Library{impl = "onednn", op = "matmul", operands = {f32[128,784], f32[128,784]}, results = {f32[128,128]},
//           integers = {transpose_b = {1}}, epilogue = {"bias", "relu"}, slices = 4}
//   -> four one-thread primitives over 32 rows each
//
// The cut depends on the call alone and not on the number of threads, so the bits of a result do not depend on the
// threads either. A filter gradient is cut along the batch. Long sums are cut into runs. Partial results of slices and
// runs are added in doubles. Scratch memory, packed weights and partial results lie in the call's workspace, whose size
// is known without executing the call.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "codegen/program.h"
#include "runtime/host/thread_pool.h"

namespace heddle::runtime {

// What oneDNN needs for a call. onednn_needs builds the primitives and executes nothing. It does not read the call's
// addresses and workspace.
struct OnednnNeeds {
  int64_t workspace = -1;  // bytes; -1 where it cannot take the call
  std::string refusal;     // why: "dtype i32"; empty where it can
};
OnednnNeeds onednn_needs(const codegen::Library& call);

// One call bound to its memory. The primitives are built once; `run` executes them.
class OnednnCall {
 public:
  // `arguments`: the addresses of operands, then of results. `workspace` has onednn_needs(call).workspace bytes,
  // 64-byte aligned. `next`: for each loop around the call, the outermost first, the addresses of the arguments one
  // turn later; empty where the loop does not move them. Throws UserError when the call's planned workspace is smaller
  // than this version of oneDNN needs.
  OnednnCall(const codegen::Library& call, std::span<void* const> arguments, void* workspace,
             const std::vector<std::vector<void*>>& next = {});
  ~OnednnCall();
  OnednnCall(OnednnCall&&) noexcept;

  void run(ThreadPool& pool);
  void advance(size_t loop, int64_t turns);  // moves the arguments to where they lie `turns` turns later

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Each thread must call this before it runs a call, so that no step allocates: OpenMP then sets up its thread-local
// data.
void onednn_prepare_thread();
std::string onednn_version();  // "2.6.3"
int64_t onednn_code_bytes();   // most resident bytes of the library: measured with 2.6.3 and 3.2.0
// Whether products of int8 are exact and fast on this processor: it needs AVX-512 with VNNI. Without VNNI, oneDNN adds
// two products in 16 bits, which can overflow.
bool onednn_multiplies_bytes();
std::string onednn_instructions();  // the widest that it uses here, within ONEDNN_MAX_CPU_ISA: "AVX2"

}  // namespace heddle::runtime
