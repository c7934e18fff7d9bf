// The names and element types of a kernel's pointers, as its text declares them.
//
//   HD_KERNEL(k_add, 256)(const float* __restrict__ a_in, hd::i64* __restrict__ b_out)   ->   a_in f32, b_out i64
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "ir/type.h"

namespace heddle::testing {

struct Pointer {
  std::string name;                // "scratch" and "counter" are the launch's own: no value is called so
  std::optional<ir::DType> dtype;  // none where it is not one of the IR's
};

// In the order of the arguments; empty where the source has no such kernel.
std::vector<Pointer> pointers_of(const std::string& source, const std::string& kernel);

}  // namespace heddle::testing
