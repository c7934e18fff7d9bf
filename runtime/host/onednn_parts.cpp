#include "runtime/host/onednn_parts.h"

#include "runtime/host/onednn_builder.h"

namespace heddle::runtime {
namespace onednn {

OnednnParts Builder::build() {
  const bool bytes = multiplies_bytes(call_);
  if (!call_.convolution) {
    bytes ? int8_matmul() : matmul();
    return std::move(parts_);
  }
  const codegen::ConvolutionRoles& roles = *call_.convolution;
  const Convolution g = geometry(dims_of(roles.image), dims_of(roles.filter), dims_of(roles.result));
  if (bytes)
    int8_convolution(g);
  else if (roles.image == codegen::ConvolutionRoles::kMade)
    data_grad(g);
  else if (roles.filter == codegen::ConvolutionRoles::kMade)
    filter_grad(g);
  else
    forward(g);
  return std::move(parts_);
}

}  // namespace onednn

OnednnParts build_onednn(const codegen::Library& call, std::span<void* const> arguments, void* workspace) {
  return onednn::Builder(call, arguments, workspace).build();
}

}  // namespace heddle::runtime
