// Dequantises a weights file (runtime/weights/quantize.h): its weights become f32, integer * scale.
//
//   {"w": i8[2,3], "w/scale": f32[2,1]}, marked   ->   {"w": f32[2,3]}, which was "int8"
#pragma once
#include "runtime/weights/safetensors.h"

namespace heddle::runtime {

// A file without the mark is returned unchanged. Throws UserError, in one line, where a scale or a shape is missing or
// does not fit its tensor, where a scale is not a positive number, or where the metadata name an unknown version or
// type.
WeightsFile dequantized(WeightsFile file);

// A tensor of a quantised file by its name, its stored type in words ("int8", "f32"), and its shape before
// quantisation.
struct LogicalTensor {
  std::string name, type;
  std::vector<int64_t> dims;
};
// The logical tensors of any file, without scales. Throws UserError as above.
std::vector<LogicalTensor> logical_tensors(const WeightsFile& file);

}  // namespace heddle::runtime
