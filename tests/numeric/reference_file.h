// Numbers of other frameworks that are stored in tests/training/reference, and how far ours are from them.
#pragma once
#include <string>
#include <vector>

#include "ir/evaluate/tensor.h"
#include "runtime/weights/safetensors.h"

namespace heddle::testing {

// `name` is a file of the folder; another one's path may be in the environment, by `variable`.
runtime::WeightsFile reference_file(const std::string& name, const char* variable = nullptr);
// What the file holds under the name.
ir::Tensor stored_tensor(const runtime::WeightsFile& file, const std::string& name);
// Part k of a tensor whose first axis counts parts of the type.
ir::Tensor part_of(const ir::Tensor& all, int64_t k, const ir::Type& type);
// The names of its cases: what its metadata describe.
std::vector<std::string> reference_cases(const runtime::WeightsFile& file);
// Drawn settings of layers of sequences: drawn.safetensors, or the file that HEDDLE_DRAWN names (see make_drawn.py there),
// and its cases "drawn_OP_7" of operators whose names begin with one of these words.
const runtime::WeightsFile& drawn_numbers();
std::vector<std::string> drawn_cases(const std::vector<std::string>& operators);
// Normalised mean square error: the squares of the differences over the squares of what is expected; where these are 0,
// the former alone. Infinite where one has more elements than the other.
double nmse(const ir::Tensor& got, const ir::Tensor& expected);

}  // namespace heddle::testing
