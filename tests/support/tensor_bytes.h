// Tensors of the evaluator to and from device memory's bytes, written without Heddle's own conversions.
#pragma once
#include <cstddef>
#include <vector>

#include "ir/tensor.h"

namespace heddle::testing {

std::vector<std::byte> to_bytes(const ir::Tensor& t);
ir::Tensor from_bytes(const ir::Type& type, const std::vector<std::byte>& bytes);

}  // namespace heddle::testing
