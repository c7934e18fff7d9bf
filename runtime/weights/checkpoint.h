// Weights of an executable to and from a file, under PyTorch's names and shapes, and a hash that names their bits.
//
//   save_weights(executable, "cnn.safetensors"); load_weights(executable, "cnn.safetensors");
#pragma once
#include <string>

#include "runtime/executable.h"

namespace heddle::runtime {

void save_weights(Executable& executable, const std::string& path);
// Throws UserError when a parameter is absent, has another type or shape, or the file holds one that the model lacks.
void load_weights(Executable& executable, const std::string& path);
// XXH3-128 over names, types, shapes and bytes of the parameters, in the order of their names: 32 hex digits.
std::string weights_hash(Executable& executable);

}  // namespace heddle::runtime
