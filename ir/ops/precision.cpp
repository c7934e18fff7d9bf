#include "ir/ops/precision.h"

#include <fmt/format.h>

#include <algorithm>

namespace heddle::ir {

std::optional<DType> mixed_type(std::string_view precision) {
  if (!precision.starts_with(kMixed)) return std::nullopt;
  const std::string_view type = precision.substr(kMixed.size());
  if (type == "bf16") return DType::bf16;
  if (type == "f16") return DType::f16;
  return std::nullopt;
}

std::vector<Key> with_precision(std::vector<Key> attrs) {
  attrs.push_back({.name = "precision",
                   .type = KeyType::text,
                   .doc =
                       "what operands of f32 may be rounded to: f32 (nothing), tf32 or bf16; mixed_bf16: 16 bits are "
                       "kept",
                   .fallback = "f32"});
  return attrs;
}

void check_precision(const Signature& s) {
  const std::string& precision = s.text("precision");
  if (precision == "f32") return;
  if (std::find(kPrecisions.begin(), kPrecisions.end(), precision) == kPrecisions.end() && !mixed_type(precision))
    throw InferError(fmt::format("precision is {}, expected f32, tf32 or bf16", precision));
  if (s.operands[0].dtype != DType::f32)
    throw InferError(fmt::format("precision is that of products of f32, not of {}", to_string(s.operands[0].dtype)));
}

}  // namespace heddle::ir
