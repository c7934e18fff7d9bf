// Convolutions and their gradients by cuDNN: f32 or 16-bit operands, with sums in f32.
//
//   Library{impl = "cudnn", op = "conv2d_filter_grad", operands = {f32[8,28,28,3], f32[8,14,14,16]},
//           results = {f32[16,5,5,3]}, ...}
//   -> a plan of an engine that adds in a fixed order (cudnn_plan.h); each run gives it three addresses and scratch
//
// The plan is made when the program is loaded, before any graph is recorded, and is kept. It takes at most the scratch
// that the program's memory plan has for the call.
//
// Heddle's relu keeps nan. The library does not say whether its relu does. So a call that ends in relu is tried once
// with a nan in its bias when it is bound. An engine that turns the nan into a number is rejected, and the next one is
// tried.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "codegen/program.h"
#include "runtime/cuda/cudnn_plan.h"
#include "runtime/cuda/driver.h"

namespace heddle::runtime {

// The library, and a handle for the GPU whose context is current. Its calls go to `stream`.
class Cudnn {
 public:
  // Throws UserError: exit 3 where there is no library, else with the library's error.
  explicit Cudnn(cuda::Stream stream);
  ~Cudnn();
  Cudnn(const Cudnn&) = delete;
  Cudnn& operator=(const Cudnn&) = delete;

  const CudnnApi& api() const { return api_; }
  cudnn::Handle handle() const { return handle_; }
  cuda::Stream stream() const { return stream_; }

 private:
  const CudnnApi& api_;
  cuda::Stream stream_;
  cudnn::Handle handle_ = nullptr;
};

// One call bound to its memory. `library` must outlive it.
class CudnnCall {
 public:
  // An address, and how many bytes it moves from one turn of a loop to the next, for each loop around the call, the
  // outermost first.
  struct Place {
    cuda::Address at = 0;
    std::vector<int64_t> strides = {};
  };
  // `places`: those of the operands, then that of the result. `workspace` has call.workspace.bytes. Throws UserError
  // where no admitted engine of the library can execute the call within this workspace.
  CudnnCall(const Cudnn& library, const codegen::Library& call, std::vector<Place> places, cuda::Address workspace);

  // Queues the convolution on the library's stream; where the stream is captured, records it.
  void run() const;
  void advance(size_t loop, int64_t turns);  // moves the arguments to where they lie `turns` turns later
  std::string engine() const;                // the chosen one: "engine 67"

 private:
  bool relu_keeps_nan(const std::string& dtype) const;

  const Cudnn& library_;
  std::string about_;  // "'conv2d.2': f32[..] = ..", for messages
  std::vector<Place> places_;
  std::vector<size_t> arrays_;  // of x, w, y and the bias in `places_`
  cuda::Address workspace_;
  std::unique_ptr<CudnnPlan> plan_;
};

}  // namespace heddle::runtime
