// Quantises weights for inference: a weight's numbers become integers times a scale. The file holds the scales beside
// the weight.
//
//   "fc.weight": f32[64,801]
//     int8 -> "fc.weight": i8[64,801], "fc.weight/scale": f32[64,1]
//     int4 -> "fc.weight": u8[64,401], "fc.weight/scale": f32[64,7], "fc.weight/shape": i64[2] = 64, 801
//     f16  -> "fc.weight": f16[64,801]
//     int8, calibrated -> also "fc.weight/range": f32[2] = 0, 5.5: what the weight was multiplied with in some rows
//
// Symmetric and linear quantisation: number = integer * scale (Jacob et al. 2018, arXiv 1712.05877, without its zero
// point). scale = max|w| / most; integer = w / scale, rounded to the nearest, ties to even. So the error is at most
// half of the scale. int8: most is 127; one scale per index along one axis. int4: most is 7; one scale per 128 numbers
// of a row. A byte holds two int4 numbers in two's complement, the first in the low bits.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/weights/safetensors.h"

namespace heddle::runtime {

enum class StoredAs { int8, int4, f16, bf16 };
std::string to_string(StoredAs type);
std::optional<StoredAs> stored_as(std::string_view word);

// Keys of the metadata of quantised files; other files do not have them. The mark's value is the requested type.
inline constexpr const char* kQuantizedMark = "heddle.quantized";
inline constexpr const char* kQuantizedVersion = "heddle.quantized.version";
inline constexpr const char* kQuantizedModel = "heddle.quantized.model";
// What was measured before and after, if there was data: the split, and metrics as JSON.
inline constexpr const char* kQuantizedSplit = "heddle.quantized.split";
inline constexpr const char* kQuantizedBefore = "heddle.quantized.before";
inline constexpr const char* kQuantizedAfter = "heddle.quantized.after";
inline constexpr const char* kQuantizedVersionNow = "1";
// Suffixes of the names of additional tensors. Paths of parameters contain no slash.
inline constexpr std::string_view kScaleSuffix = "/scale", kShapeSuffix = "/shape", kRangeSuffix = "/range";
inline constexpr int64_t kGroup = 128;  // int4: numbers of a row that share a scale
// Bytes of a row of int4 numbers.
constexpr int64_t packed_bytes(int64_t columns) { return columns / 2 + columns % 2; }
constexpr int64_t groups_of(int64_t columns) { return columns / kGroup + (columns % kGroup > 0 ? 1 : 0); }

// How one tensor is stored. `axis`: for int8, the axis along which each index has a scale.
struct Quantization {
  StoredAs as = StoredAs::int8;
  int64_t axis = 0;
  std::vector<float> range = {};  // for int8: the smallest and the largest input of the product; or empty
};

// Quantises a finite f32 tensor and adds it to the file. For int4 it must be a matrix. Throws UserError where a number
// is out of the range of f16 or bf16.
void add_quantized(WeightsFile& to, const WeightsFile& from, const SavedTensor& t, const Quantization& how);

// mark_quantized marks the metadata, and throws UserError where the file is already quantised. require_for_training
// throws UserError where it is quantised.
void mark_quantized(WeightsFile& file, StoredAs type, const std::string& model);
bool is_quantized(const WeightsFile& file);
// Removes the marks; for weights that are f32 again.
void unmark_quantized(std::map<std::string, std::string>& metadata);
void require_for_training(const WeightsFile& file);

}  // namespace heddle::runtime
