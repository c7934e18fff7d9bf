// Sealed files: safetensors whose last 16 bytes are a checksum of everything before them, the header included.
//
//   write_sealed("checkpoint", file);   // adds the tensor "heddle/checksum" U8[16]
//   read_sealed("checkpoint")           // "checkpoint: damaged: its content does not have its checksum"
//
// The checksum is XXH3-128, in the order of its digits. Any reader of safetensors can read such a file; Heddle reads
// none whose checksum is not that of its content, whatever changed it.
#pragma once
#include <string>

#include "runtime/weights/safetensors.h"

namespace heddle::runtime {

// Replaces the file as a whole, as write_safetensors.
void write_sealed(const std::string& path, const WeightsFile& file);
// Without the checksum. Throws UserError, in one line: empty, truncated, damaged, or a file of another kind than `kind`.
WeightsFile read_sealed(const std::string& path, const std::string& kind = "checkpoint");

}  // namespace heddle::runtime
