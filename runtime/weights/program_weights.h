// Saves the weights of an executable to a file and loads them, under PyTorch's names and shapes. Also computes a hash
// of them.
//
//   save_weights(executable, "cnn.safetensors");
//   const WeightsFile file = read_safetensors("cnn.safetensors");
//   require_match(file, program); load_weights(executable, file);
#pragma once
#include <map>
#include <span>
#include <string>

#include "runtime/executable.h"
#include "runtime/weights/match.h"
#include "runtime/weights/safetensors.h"

namespace heddle::runtime {

// Copies parameters and buffers, in the order of files. `averages`: instead of a parameter that has an average, copies
// the average, which evaluations read.
WeightsFile weights_of(Executable& executable, const std::map<std::string, std::string>& metadata = {},
                       bool averages = false);
// The file with the types in which the program stores its tensors: f32 becomes bf16, rounded to nearest, where the
// program has bf16.
WeightsFile with_types_of(const WeightsFile& file, const codegen::Program& program);
// Throws UserError and writes nothing where the path has become another kind of file. `metadata` is added to the file's
// metadata.
void save_weights(Executable& executable, const std::string& path,
                  const std::map<std::string, std::string>& metadata = {});
// Loads a file that matches; f32 is rounded to bf16 where the program has bf16. Parameters that the file lacks are not
// changed. `averages`: also writes the averages.
void load_weights(Executable& executable, const WeightsFile& file, bool averages = false);
// Copy one state to the bytes of a file, and from them.
void read_in_file_order(Executable& executable, const codegen::Buffer& b, std::span<std::byte> bytes);
void write_from_file_order(Executable& executable, const codegen::Buffer& b, std::span<const std::byte> bytes);
// Returns XXH3-128 over names, types, shapes and bytes of parameters and buffers in the order of files, sorted by name:
// 32 hex digits. It does not depend on layouts in memory.
std::string weights_hash(Executable& executable);

}  // namespace heddle::runtime
