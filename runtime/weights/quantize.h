// Weights in fewer bits, for use. The numbers of a weight become whole multiples of a scale, which lies beside it.
//
//   "fc.weight": f32[64,801]
//     int8 -> "fc.weight": i8[64,801], "fc.weight/scale": f32[64,1]
//     int4 -> "fc.weight": u8[64,401], "fc.weight/scale": f32[64,7], "fc.weight/shape": i64[2] = 64, 801
//     f16  -> "fc.weight": f16[64,801]
//     int8, calibrated -> also "fc.weight/range": f32[2] = 0, 5.5: what the weight was multiplied with in some rows
//
// Symmetric and linear, with a number = whole * scale (Jacob et al. 2018, arXiv 1712.05877, without its zero point):
// scale = max|w| / most, whole = w / scale, rounded to the nearest and of two to the even one. So no number is off by
// more than half of its scale. int8: most is 127, a scale for each place along one axis. int4: most is 7, a scale for
// each 128 numbers of a row; two wholes in a byte, in two's complement, the first one in the low bits.
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

// What the metadata of a quantised file hold, and those of no other file: the type that was asked for.
inline constexpr const char* kQuantizedMark = "heddle.quantized";
inline constexpr const char* kQuantizedVersion = "heddle.quantized.version";
inline constexpr const char* kQuantizedModel = "heddle.quantized.model";
// What was measured, where there was something to measure with: on which split, and metrics as JSON.
inline constexpr const char* kQuantizedSplit = "heddle.quantized.split";
inline constexpr const char* kQuantizedBefore = "heddle.quantized.before";
inline constexpr const char* kQuantizedAfter = "heddle.quantized.after";
inline constexpr const char* kQuantizedVersionNow = "1";
// What is added to a tensor's name for what lies beside it: no path of a parameter has a slash.
inline constexpr std::string_view kScaleSuffix = "/scale", kShapeSuffix = "/shape", kRangeSuffix = "/range";
inline constexpr int64_t kGroup = 128;  // numbers of a row that have one scale, of int4
// What a row of so many numbers takes as int4.
constexpr int64_t packed_bytes(int64_t columns) { return columns / 2 + columns % 2; }
constexpr int64_t groups_of(int64_t columns) { return columns / kGroup + (columns % kGroup > 0 ? 1 : 0); }

// How one tensor is stored. `axis`: of int8, along which each place has its scale.
struct Quantization {
  StoredAs as = StoredAs::int8;
  int64_t axis = 0;
  std::vector<float> range = {};  // of int8: the smallest and the largest number that meets the weight; or empty
};

// Adds a tensor of finite f32 to the file; int4 takes a matrix. Throws UserError where a number is beyond what f16 or
// bf16 holds.
void add_quantized(WeightsFile& to, const WeightsFile& from, const SavedTensor& t, const Quantization& how);

// The metadata are marked. Throws UserError where a file may not be quantised a second time, or begin a training.
void mark_quantized(WeightsFile& file, StoredAs type, const std::string& model);
bool is_quantized(const WeightsFile& file);
// Takes the marks off, of weights that are f32 again.
void unmark_quantized(std::map<std::string, std::string>& metadata);
void require_for_training(const WeightsFile& file);

}  // namespace heddle::runtime
