// WinogradCall: a convolution, or its data gradient, by Winograd's transforms (runtime/host/winograd.h). The batch is
// cut into a fixed number of slices. One thread executes each slice.
//
//   Library{impl = "winograd", op = "conv2d", operands = {f32[128,32,32,16], f32[16,3,3,16]}, slices = 8}
//   -> the filter's transform, then eight slices of 16 images
//
// The workspace holds the transformed filter, and for each slice the tiles that it is computing.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "codegen/program.h"
#include "runtime/host/thread_pool.h"
#include "runtime/host/winograd.h"

namespace heddle::runtime {

struct WinogradNeeds {
  int64_t workspace = -1;  // bytes; -1 where it cannot take the call
  std::string refusal;     // why; empty where it can
};
WinogradNeeds winograd_needs(const codegen::Library& call);

// One call bound to its memory.
class WinogradCall {
 public:
  // As OnednnCall. `next`: for each loop, the addresses of the arguments one turn later; empty where the loop does not
  // move them.
  WinogradCall(const codegen::Library& call, std::span<void* const> arguments, void* workspace,
               const std::vector<std::vector<void*>>& next = {});

  void run(ThreadPool& pool);
  void advance(size_t loop, int64_t turns);

 private:
  winograd::Images all_;  // sizes of the whole batch, without addresses
  int64_t slices_ = 1;
  bool of_gradient_ = false, has_bias_ = false;
  size_t x_ = 0, filter_ = 1;  // among the arguments
  std::vector<char*> arguments_;
  std::vector<std::vector<std::ptrdiff_t>> strides_;  // by loop, of each argument
  float* workspace_ = nullptr;
};

}  // namespace heddle::runtime
