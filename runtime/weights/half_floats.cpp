#include "runtime/weights/half_floats.h"

#include <bit>
#include <cmath>

namespace heddle::runtime {
namespace {

constexpr uint32_t kSign = 0x80000000U;

// Without its last `bits` bits; a carry goes on into the exponent, as it should.
uint32_t rounded_off(uint32_t word, int bits) {
  const uint32_t half = 1U << (bits - 1), last_kept = word >> bits & 1U;
  return (word + (half - 1) + last_kept) >> bits;
}

}  // namespace

float from_bf16(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

// 1 bit of sign, 5 of exponent (15 is 2^0), 10 of fraction.
float from_f16(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000U) << 16, exponent = bits >> 10 & 0x1fU,
                 fraction = bits & 0x3ffU;
  if (exponent == 0)
    return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(std::ldexp(static_cast<float>(fraction), -24)));
  const uint32_t f32_exponent = exponent == 0x1f ? 0xff : exponent + 127 - 15;
  return std::bit_cast<float>(sign | f32_exponent << 23 | fraction << 13);
}

std::optional<uint16_t> to_bf16(float value) {
  const uint32_t word = std::bit_cast<uint32_t>(value), sign = word & kSign, size = word & ~kSign;
  const uint32_t rounded = rounded_off(size, 16);
  if (rounded >= 0x7f80U) return std::nullopt;
  return static_cast<uint16_t>(sign >> 16 | rounded);
}

uint16_t nearest_bf16(float value) {
  constexpr uint16_t kNan = 0x7fc0;
  if (std::isnan(value)) return kNan;
  return static_cast<uint16_t>(rounded_off(std::bit_cast<uint32_t>(value), 16));
}

std::optional<uint16_t> to_f16(float value) {
  constexpr float kFirstBeyond = 65520, kLeastNormal = 0x1p-14F;
  const uint32_t word = std::bit_cast<uint32_t>(value), sign = word & kSign;
  const float size = std::abs(value);
  if (!(size < kFirstBeyond)) return std::nullopt;
  // Below the normal numbers one unit is 2^-24; 1024 of them are the bits of the least normal one.
  const uint32_t bits = size < kLeastNormal ? static_cast<uint32_t>(std::nearbyint(std::ldexp(size, 24)))
                                            : rounded_off((word & ~kSign) - ((127U - 15U) << 23), 13);
  return static_cast<uint16_t>(sign >> 16 | bits);
}

}  // namespace heddle::runtime
