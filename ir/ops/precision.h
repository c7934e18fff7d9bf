// The attribute `precision` of products: the type to which f32 operands may be rounded before they are multiplied,
// because processors have much faster units for it. It is a permission: f32 is always correct, and sums are f32.
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
// The type of "mixed_bf16" and "mixed_f16"; nothing for other words.
std::optional<DType> mixed_type(std::string_view precision);
// `attrs` and the attribute `precision`.
std::vector<Key> with_precision(std::vector<Key> attrs);
// Throws InferError if `precision` is an unknown word, or not f32 although the operands are not f32.
void check_precision(const Signature& s);

}  // namespace heddle::ir
