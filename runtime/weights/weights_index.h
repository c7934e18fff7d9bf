// Reads weights that are split over several safetensors files, by the index that names the file of each tensor.
//
//   model.safetensors.index.json: {"weight_map": {"wte.weight": "model-00001-of-00002.safetensors", ...}}
//     -> read_weights_index(path): the tensors of all files, as if they were in one
#pragma once
#include <string>
#include <vector>

#include "runtime/weights/safetensors.h"

namespace heddle::runtime {

// Whether the path ends in .json and the file is not known as another tool's JSON (runtime/files/foreign_file.h).
bool is_weights_index(const std::string& path);
// The files lie beside the index. Throws UserError where a file is absent or damaged, a tensor is not in the file that
// the index names, or a file holds a tensor that the index does not name.
WeightsFile read_weights_index(const std::string& path);

// The files that reading `path` would read: the path, and for an index the files that it names. Only the path where the
// index cannot be read.
std::vector<std::string> files_of_weights(const std::string& path);

}  // namespace heddle::runtime
