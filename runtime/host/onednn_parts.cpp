#include "runtime/host/onednn_parts.h"

#include "runtime/host/onednn_builder.h"

namespace heddle::runtime {
namespace onednn {

OnednnParts Builder::build() {
  if (call_.op == "matmul") {
    matmul();
  } else if (call_.op == "conv2d") {
    forward(geometry(call_.operands[0].dims, call_.operands[1].dims, call_.results[0].dims));
  } else if (call_.op == "conv2d_data_grad") {
    data_grad(geometry(call_.results[0].dims, call_.operands[1].dims, call_.operands[0].dims));
  } else {
    filter_grad(geometry(call_.operands[0].dims, call_.results[0].dims, call_.operands[1].dims));
  }
  return std::move(parts_);
}

}  // namespace onednn

OnednnParts build_onednn(const codegen::Library& call, std::span<void* const> arguments, void* workspace) {
  return onednn::Builder(call, arguments, workspace).build();
}

}  // namespace heddle::runtime
