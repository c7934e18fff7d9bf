// Floating numbers as a GPU rounds them.
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace heddle::ptx {

// .ftz: a subnormal number becomes a zero of its sign.
inline float flush(float x) { return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0F, x) : x; }

enum class Rounding { nearest, zero, down, up };

// `nearest` is the exact value, value + rest, rounded to nearest; the result is rounded the other way where it must.
inline float directed(Rounding rounding, float nearest, double value, double rest) {
  const double off = static_cast<double>(nearest) - value;
  const bool above = off > 0 || (off == 0 && rest < 0), below = off < 0 || (off == 0 && rest > 0);
  const bool down = rounding == Rounding::down || (rounding == Rounding::zero && value > 0);
  const bool up = rounding == Rounding::up || (rounding == Rounding::zero && value < 0);
  if (above && down) return std::nextafter(nearest, -std::numeric_limits<float>::infinity());
  if (below && up) return std::nextafter(nearest, std::numeric_limits<float>::infinity());
  return nearest;
}
// What a sum of doubles loses (Knuth 1969, 4.2.2).
inline double rest_of_sum(double a, double b) {
  const double s = a + b, part = s - a;
  return (a - (s - part)) + (b - part);
}

// To nearest, ties to even; subnormals are kept. NaN becomes 0x7fff, as cvt gives it.
inline uint16_t to_bf16(float x) {
  const auto bits = std::bit_cast<uint32_t>(x);
  if (std::isnan(x)) return 0x7fff;
  return static_cast<uint16_t>((bits + 0x7fffU + (bits >> 16 & 1U)) >> 16);
}
inline float from_bf16(uint16_t x) { return std::bit_cast<float>(uint32_t{x} << 16); }

inline float from_f16(uint16_t x) {
  const int exponent = x >> 10 & 31;
  const double fraction = x & 1023;
  double value = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  if (exponent == 31)
    value = fraction == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  return static_cast<float>((x & 0x8000) != 0 ? -value : value);
}
inline uint16_t to_f16(double x) {
  const uint16_t sign = std::signbit(x) ? 0x8000 : 0;
  const double a = std::fabs(x);
  if (std::isnan(x)) return 0x7fff;
  if (a >= 65520) return static_cast<uint16_t>(sign | 0x7c00);  // half a unit above the largest, 65504
  if (a == 0) return sign;
  int exponent = 0;
  std::frexp(a, &exponent);
  exponent = exponent - 1 < -14 ? -14 : exponent - 1;
  // In units of the last place; nearbyint rounds ties to even. A carry moves into the exponent by itself.
  const double units = std::nearbyint(std::ldexp(a, 10 - exponent));
  const int bits = (exponent + 14) * 1024 + static_cast<int>(units);
  return static_cast<uint16_t>(sign | bits);
}

// cvt.rna.tf32: 10 bits of fraction, to nearest, ties away from zero. What mma.sync does with an operand that was not
// converted is not promised by PTX; tensor cores leave out the low 13 bits, and so does this machine.
inline uint32_t to_tf32(float x) {
  const auto bits = std::bit_cast<uint32_t>(x);
  if ((bits & 0x7f800000U) == 0x7f800000U) return std::isnan(x) ? 0x7fffffffU : bits;
  return (bits + 0x1000U) & ~0x1fffU;
}
inline float tf32_operand(uint32_t bits) { return std::bit_cast<float>(bits & ~0x1fffU); }

}  // namespace heddle::ptx
