// Numbers of other frameworks that are stored in tests/training/reference, and how far ours are from them.
#pragma once
#include <string>
#include <vector>

#include "ir/evaluate/tensor.h"
#include "runtime/weights/safetensors.h"

namespace heddle::testing {

// `name` is a file of the folder.
runtime::WeightsFile reference_file(const std::string& name);
// The names of its cases: what its metadata describe.
std::vector<std::string> reference_cases(const runtime::WeightsFile& file);
// Normalised mean square error: the squares of the differences over the squares of what is expected; where these are 0,
// the former alone. Infinite where one has more elements than the other.
double nmse(const ir::Tensor& got, const ir::Tensor& expected);

}  // namespace heddle::testing
