// Weights of an executable to and from a file, under PyTorch's names and shapes, and a hash that names their bits.
//
//   save_weights(executable, "cnn.safetensors");
//   const WeightsFile file = read_safetensors("cnn.safetensors");
//   require_match(file, program); load_weights(executable, file);
#pragma once
#include <map>
#include <string>

#include "runtime/executable.h"
#include "runtime/weights/safetensors.h"

namespace heddle::runtime {

// The parameters and buffers as a file would hold them.
WeightsFile weights_of(Executable& executable, const std::map<std::string, std::string>& metadata = {});
// Throws UserError, and writes nothing, where another kind of file lies by now. `metadata` is added to the file's.
void save_weights(Executable& executable, const std::string& path,
                  const std::map<std::string, std::string>& metadata = {});
// Throws UserError when a parameter is absent, has another type or shape, or the file holds one that the model lacks.
void require_match(const WeightsFile& file, const codegen::Program& program);
// From a file that matches.
void load_weights(Executable& executable, const WeightsFile& file);
// XXH3-128 over names, types, shapes and bytes of the parameters as files hold them, in the order of their names: 32 hex
// digits. How they lie in memory does not matter.
std::string weights_hash(Executable& executable);

}  // namespace heddle::runtime
