// Conversions between the evaluator's tensors and the bytes that files and devices hold.
//
//   f16 00 3c   ->   1.0
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "ir/evaluate/tensor.h"

namespace heddle::ir {

// `bytes` are exactly the type's elements, little-endian.
Tensor from_bytes(const Type& type, std::span<const std::byte> bytes);
// Floating values are rounded to the dtype.
std::vector<std::byte> to_bytes(const Tensor& tensor);

}  // namespace heddle::ir
