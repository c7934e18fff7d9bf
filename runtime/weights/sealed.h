// Sealed files: safetensors whose last 16 bytes are a checksum of everything before them, the header included.
//
//   write_sealed("checkpoint", file);   // adds the tensor "heddle/checksum" U8[16]
//   read_sealed("checkpoint")           // "checkpoint: damaged: its content does not have its checksum"
//
// The checksum is XXH3-128, its most significant byte first. Any reader of safetensors can read such a file. Heddle
// rejects a file whose checksum differs from that of its content.
#pragma once
#include <string>

#include "runtime/weights/safetensors.h"

namespace heddle::runtime {

// Replaces the file atomically, as write_safetensors does.
void write_sealed(const std::string& path, const WeightsFile& file);
// Returns the file without the checksum tensor. Throws UserError, in one line, where the file is empty, truncated,
// damaged, or not a `kind`.
WeightsFile read_sealed(const std::string& path, const std::string& kind = "checkpoint");

}  // namespace heddle::runtime
