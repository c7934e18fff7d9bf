// Weights of an executable to and from a file, under PyTorch's names and shapes, and a hash that names their bits.
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

// The bytes of parameters and buffers as files hold them. `averages`: of a parameter that has an
// average that one, which is what evaluations read.
WeightsFile weights_of(Executable& executable, const std::map<std::string, std::string>& metadata = {},
                       bool averages = false);
// The file with the types in which the program stores its tensors: f32 becomes the nearest bf16 where that is one.
WeightsFile stored_as(const WeightsFile& file, const codegen::Program& program);
// Throws UserError, and writes nothing, where another kind of file lies by now. `metadata` is added to the file's.
void save_weights(Executable& executable, const std::string& path,
                  const std::map<std::string, std::string>& metadata = {});
// From a file that matches; what it may lack stays as it is, and f32 becomes the nearest bf16 where parameters are that. `averages`: into their averages, too.
void load_weights(Executable& executable, const WeightsFile& file, bool averages = false);
// One state from the bytes of a file, and to them.
void read_in_file_order(Executable& executable, const codegen::Buffer& b, std::span<std::byte> bytes);
void write_from_file_order(Executable& executable, const codegen::Buffer& b, std::span<const std::byte> bytes);
// XXH3-128 over names, types, shapes and bytes of the parameters as files hold them, in the order
// of their names: 32 hex digits. How they lie in memory does not matter.
std::string weights_hash(Executable& executable);

}  // namespace heddle::runtime
