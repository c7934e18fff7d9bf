// A convolution or one of its gradients as cuDNN is asked for it: the call of a program.
#pragma once
#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <vector>

#include "codegen/program.h"
#include "runtime/cuda/cudnn_convolution.h"

namespace heddle::testing {

struct Geometry {
  const char* name;
  std::vector<int64_t> image, filter;  // NHWC, OHWI
  std::vector<int64_t> pads = {0, 0, 0, 0}, strides = {1, 1}, dilations = {1, 1};
};

inline codegen::Library call_of(const Geometry& g, runtime::CudnnOperation operation, const std::string& dtype,
                                const std::string& precision) {
  const size_t axes = g.strides.size();
  std::vector<int64_t> result = {g.image[0]};
  for (size_t i = 0; i < axes; ++i)
    result.push_back((g.image[i + 1] + g.pads[i] + g.pads[i + axes] - g.dilations[i] * (g.filter[i + 1] - 1) - 1) /
                         g.strides[i] +
                     1);
  result.push_back(g.filter[0]);
  const codegen::TensorDesc x{dtype, g.image}, w{dtype, g.filter}, y{dtype, result};
  codegen::Library call;
  call.impl = "cudnn", call.title = g.name, call.precision = precision;
  call.op = fmt::format("conv{}d", axes);
  call.integers = {{"pads", g.pads},
                   {"strides", g.strides},
                   {"dilations", g.dilations},
                   {"groups", {g.image.back() / g.filter.back()}}};
  if (operation == runtime::CudnnOperation::forward) {
    call.convolution = codegen::ConvolutionRoles{.image = 0, .filter = 1};
    call.operands = {x, w}, call.results = {y};
  } else if (operation == runtime::CudnnOperation::data_gradient) {
    call.op += "_data_grad", call.integers["input"] = g.image;
    call.convolution = codegen::ConvolutionRoles{.filter = 1, .result = 0};
    call.operands = {y, w}, call.results = {x};
  } else {
    call.op += "_filter_grad", call.integers["filter"] = g.filter;
    call.convolution = codegen::ConvolutionRoles{.image = 0, .result = 1};
    call.operands = {x, y}, call.results = {w};
  }
  call.workspace.bytes = int64_t{2} << 20;
  return call;
}

// Forward, with a bias and perhaps relu behind it.
inline codegen::Library with_epilogue(const Geometry& g, const std::string& dtype, bool relu,
                                      const std::string& precision = "f32") {
  codegen::Library call = call_of(g, runtime::CudnnOperation::forward, dtype, precision);
  call.operands.push_back({dtype, {g.filter[0]}});
  call.epilogue = {{.op = "bias", .bias = true}};
  if (relu) call.epilogue.push_back({.op = "relu", .at_least = 0.0});
  return call;
}

}  // namespace heddle::testing
