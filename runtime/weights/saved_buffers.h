// Lists which buffers of a program a weights file holds, and indexes a file's tensors by name.
//
//   saved_buffers(program)   ->   fc1.bias, fc1.weight, norm.running_mean
#pragma once
#include <string_view>
#include <unordered_map>
#include <vector>

#include "codegen/program.h"
#include "runtime/weights/safetensors.h"

namespace heddle::runtime {

// The parameters and the buffers of layers, sorted by name.
std::vector<const codegen::Buffer*> saved_buffers(const codegen::Program& program);

using TensorsByName = std::unordered_map<std::string_view, const SavedTensor*>;
// Names and tensors point into the file.
TensorsByName by_name(const WeightsFile& file);

}  // namespace heddle::runtime
