// The attribute `precision` of products: what operands of f32 may be rounded to before they are multiplied, for which
// processors have units that are many times faster. A permission: f32 is always right, and the sums are of f32.
//
//   %y: f32[8,4] = matmul(%x, %w) {precision = "tf32"}          10 bits of fraction instead of 23
//   %y: f32[8,4] = matmul(%x, %w) {precision = "mixed_bf16"}    no permission: passes/mixed_precision.h makes it bf16
#pragma once
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/op_def.h"

namespace heddle::ir {

inline constexpr std::array<const char*, 3> kPrecisions = {"f32", "tf32", "bf16"};
inline constexpr std::string_view kMixed = "mixed_";  // before a 16-bit type
// The type of "mixed_bf16" and "mixed_f16"; none of every other word.
std::optional<DType> mixed_type(std::string_view precision);
// `attrs`, and precision: one of these.
std::vector<Key> with_precision(std::vector<Key> attrs);
// Throws InferError where it is none of these, or other than f32 for operands of another type.
void check_precision(const Signature& s);

}  // namespace heddle::ir
