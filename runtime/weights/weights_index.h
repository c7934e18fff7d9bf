// Weights that lie in several safetensors files, and the index that says which tensor is in which.
//
//   model.safetensors.index.json: {"weight_map": {"wte.weight": "model-00001-of-00002.safetensors", ...}}
//     -> read_weights_index(path): the tensors of all files, as if they were in one
#pragma once
#include <string>
#include <vector>

#include "runtime/weights/safetensors.h"

namespace heddle::runtime {

// By its name: an index is JSON.
bool is_weights_index(const std::string& path);
// The files lie beside the index. Throws UserError where one is absent or damaged, a tensor is not
// in the file that the index names, or a file holds one of which the index does not speak.
WeightsFile read_weights_index(const std::string& path);

// The files that weights are read from: the path, and behind an index those that it names. The path alone where the
// index cannot be read.
std::vector<std::string> files_of_weights(const std::string& path);

}  // namespace heddle::runtime
