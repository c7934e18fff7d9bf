// Reads and writes the JSON header of a safetensors file. Reading is strict: only the specified kinds of values, exact
// integers, no duplicate names.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/weights/safetensors.h"

namespace heddle::runtime {

// A key of the metadata of packages (tools/driver/package.h); other files do not have it.
inline constexpr const char* kPackageMark = "heddle.package";

struct WeightsHeader {
  std::vector<SavedTensor> tensors;
  std::map<std::string, std::string> metadata;
};

// Throws std::runtime_error that says what is wrong. It does not compare offsets and shapes with the data.
WeightsHeader parse_weights_header(std::string_view text);
std::string print_weights_header(const WeightsHeader& header);

// "F32" for "f32", and back; "" for types that the format lacks.
std::string safetensors_dtype(std::string_view dtype);
std::string dtype_of_safetensors(std::string_view name);
int64_t bytes_per_element(std::string_view dtype);  // 0 when unknown

}  // namespace heddle::runtime
