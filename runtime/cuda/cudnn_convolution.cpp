#include "runtime/cuda/cudnn_convolution.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "ir/check.h"
#include "runtime/cuda/cudnn_api.h"

namespace heddle::runtime {
namespace {

using codegen::ConvolutionRoles;

int type_of(const std::string& dtype) {
  return dtype == "f16" ? cudnn::kF16 : dtype == "bf16" ? cudnn::kBf16 : cudnn::kF32;
}

// The array of a role. The result has no operand number.
const codegen::TensorDesc& array(const codegen::Library& call, int role) {
  return role == ConvolutionRoles::kMade ? call.results[0] : call.operands[static_cast<size_t>(role)];
}

// Describes an array with channels last in the library's order of axes: N, C, then space.
CudnnTensor channels_second(const codegen::TensorDesc& t) {
  const size_t rank = t.dims.size();
  std::vector<int64_t> strides(rank, 1);
  for (size_t i = rank - 1; i > 0; --i) strides[i - 1] = strides[i] * t.dims[i];
  CudnnTensor out{
      .type = type_of(t.dtype), .dims = {t.dims[0], t.dims.back()}, .strides = {strides[0], strides.back()}};
  out.dims.insert(out.dims.end(), t.dims.begin() + 1, t.dims.end() - 1);
  out.strides.insert(out.strides.end(), strides.begin() + 1, strides.end() - 1);
  return out;
}

CudnnOperation operation_of(const ConvolutionRoles& roles) {
  if (roles.image == ConvolutionRoles::kMade) return CudnnOperation::data_gradient;
  return roles.filter == ConvolutionRoles::kMade ? CudnnOperation::filter_gradient : CudnnOperation::forward;
}

std::string refusal_of_tensor(const codegen::TensorDesc& t, const std::string& dtype) {
  constexpr int64_t kLargest = std::numeric_limits<int32_t>::max();
  if (t.dtype != "f32" && t.dtype != "bf16" && t.dtype != "f16") return fmt::format("dtype {}", t.dtype);
  if (t.dtype != dtype) return fmt::format("{} beside {}", t.dtype, dtype);
  int64_t elements = 1;
  for (const int64_t size : t.dims) {
    if (size == 0) return "an empty tensor";
    if (size > kLargest / elements) return "more than 2147483647 elements";
    elements *= size;
  }
  return {};
}

// A bias, or a bias and relu, behind a forward convolution.
std::string refusal_of_epilogue(const codegen::Library& call) {
  if (call.epilogue.empty()) return {};
  if (operation_of(*call.convolution) != CudnnOperation::forward) return "an epilogue on a gradient";
  const bool relu = call.epilogue.size() == 2 && call.epilogue[1].at_least == 0.0;
  if (!call.epilogue[0].bias || (call.epilogue.size() > 1 && !relu))
    return fmt::format("epilogue {}", call.epilogue.back().op);
  return {};
}

// A vector of channels as one pixel of one image.
CudnnTensor one_pixel(const codegen::TensorDesc& t, size_t rank) {
  codegen::TensorDesc pixel{t.dtype, std::vector<int64_t>(rank, 1)};
  pixel.dims.back() = t.dims[0];
  return channels_second(pixel);
}

std::string shape(const codegen::TensorDesc& t) { return fmt::format("{}[{}]", t.dtype, fmt::join(t.dims, ",")); }

}  // namespace

std::string cudnn_refusal(const codegen::Library& call) {
  if (!call.convolution) return fmt::format("operator {}", call.op);
  if (call.results.size() != 1) return fmt::format("{} results", call.results.size());
  if (std::string why = refusal_of_epilogue(call); !why.empty()) return why;
  for (const codegen::TensorDesc& t : call.operands)
    if (std::string why = refusal_of_tensor(t, call.results[0].dtype); !why.empty()) return why;
  return refusal_of_tensor(call.results[0], call.results[0].dtype);
}

CudnnConvolution describe_cudnn(const codegen::Library& call) {
  HEDDLE_CHECK(cudnn_refusal(call).empty(), fmt::format("'{}' is no call of cuDNN", call.title));
  const ConvolutionRoles& roles = *call.convolution;
  const std::vector<int64_t>& pads = call.integers.at("pads");
  const auto behind = pads.begin() + static_cast<std::ptrdiff_t>(pads.size() / 2);
  CudnnConvolution c{.operation = operation_of(roles),
                     .x = channels_second(array(call, roles.image)),
                     .w = channels_second(array(call, roles.filter)),
                     .y = channels_second(array(call, roles.result)),
                     .low = {pads.begin(), behind},
                     .high = {behind, pads.end()},
                     .strides = call.integers.at("strides"),
                     .dilations = call.integers.at("dilations"),
                     .tf32 = call.precision != "f32"};
  if (!call.epilogue.empty()) c.bias = one_pixel(call.operands[2], c.y.dims.size());
  c.relu = call.epilogue.size() == 2;
  return c;
}

std::string cudnn_shapes(const codegen::Library& call) {
  const char* epilogue[] = {"", " with bias", " with bias, relu"};
  return fmt::format("{} = {}, {}{}", shape(call.results[0]), shape(call.operands[0]), shape(call.operands[1]),
                     epilogue[std::min<size_t>(call.epilogue.size(), 2)]);
}

}  // namespace heddle::runtime
