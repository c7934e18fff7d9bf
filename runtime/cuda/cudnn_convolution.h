// Translates a library call, a convolution or one of its gradients, into the terms of cuDNN's descriptors.
//
//   Library{impl = "cudnn", op = "conv2d", operands = {f32[8,28,28,3], f32[16,5,5,3]}, results = {f32[8,14,14,16]},
//           integers = {pads = {2,2,2,2}, strides = {2,2}, ...}, precision = "tf32"}
//   -> forward: x = f32 [8,3,28,28] strides [2352,1,84,3], w = f32 [16,3,5,5] strides [75,1,15,3],
//      y = f32 [8,16,14,14] strides [3136,1,224,16], pads [2,2] and [2,2], strides [2,2], dilations [1,1], tf32
//
// The library's order of axes is always N, C, then the spatial axes; strides say how the elements lie in memory.
// Heddle's channels are innermost. The number of groups follows from the numbers of channels.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "codegen/program.h"

namespace heddle::runtime {

struct CudnnTensor {
  int type = 0;                        // cudnnDataType_t
  std::vector<int64_t> dims, strides;  // in elements
  bool operator==(const CudnnTensor&) const = default;
};
enum class CudnnOperation { forward, data_gradient, filter_gradient };
struct CudnnConvolution {
  CudnnOperation operation = CudnnOperation::forward;
  CudnnTensor x, w, y;                                 // each array, or its gradient
  std::vector<int64_t> low, high, strides, dilations;  // per spatial axis; low, high: padding
  bool tf32 = false;                                   // f32 operands may be rounded to tf32
  // Epilogue of a forward convolution: `bias`, a vector along the channels, described as a tensor of one pixel, is
  // added. Then `relu` takes max(.., 0).
  std::optional<CudnnTensor> bias = {};
  bool relu = false;
};

// Why the library does not take the call, such as "dtype i32"; "" where it may take it. A function of the call alone.
std::string cudnn_refusal(const codegen::Library& call);
// Describes a call for the library. The call must not be refused.
CudnnConvolution describe_cudnn(const codegen::Library& call);
// The operands and the result, for messages: "f32[8,14,14,16] = f32[8,28,28,3], f32[16,5,5,3] with bias, relu".
std::string cudnn_shapes(const codegen::Library& call);

}  // namespace heddle::runtime
