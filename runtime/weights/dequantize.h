// The weights of a quantised file (runtime/weights/quantize.h) as f32, whole * scale.
//
//   {"w": i8[2,3], "w/scale": f32[2,1]}, marked   ->   {"w": f32[2,3]}, which was "int8"
#pragma once
#include "runtime/weights/safetensors.h"

namespace heddle::runtime {

// A file without the mark stays as it is. Throws UserError, in one line, where a scale or a shape is missing or has
// another type or shape than its tensor needs, where a scale is no positive number, or where another version of the
// format, or another type, stands in the metadata.
WeightsFile dequantized(WeightsFile file);

// A tensor of a quantised file as it was before: its type as words say it ("int8", "f32"), and its shape.
struct LogicalTensor {
  std::string name, type;
  std::vector<int64_t> dims;
};
// Those of any file, without its scales. Throws UserError as above.
std::vector<LogicalTensor> logical_tensors(const WeightsFile& file);

}  // namespace heddle::runtime
