// The JSON header of a safetensors file, read strictly: known shapes of values only, exact integers, no duplicate
// names.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/weights/safetensors.h"

namespace heddle::runtime {

// What the metadata of a package hold (tools/driver/package.h), and those of no other file.
inline constexpr const char* kPackageMark = "heddle.package";

struct WeightsHeader {
  std::vector<SavedTensor> tensors;
  std::map<std::string, std::string> metadata;
};

// Throws std::runtime_error with what is wrong. Offsets and shapes are not yet compared with the data.
WeightsHeader parse_weights_header(std::string_view text);
std::string print_weights_header(const WeightsHeader& header);

// "F32" for "f32", "" for what the format lacks; and back.
std::string safetensors_dtype(std::string_view dtype);
std::string dtype_of_safetensors(std::string_view name);
int64_t bytes_per_element(std::string_view dtype);  // 0 when unknown

}  // namespace heddle::runtime
