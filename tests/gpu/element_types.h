// The element types of a kernel's pointers, as its text declares them.
//
//   HD_KERNEL(k_add, 256)(const float* __restrict__ a_in, hd::i64* __restrict__ b_out)   ->   f32, i64
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "ir/type.h"

namespace heddle::testing {

// In the order of the arguments; nothing where the type is not one of the IR's.
std::vector<std::optional<ir::DType>> element_types(const std::string& source, const std::string& kernel);

}  // namespace heddle::testing
