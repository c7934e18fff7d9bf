// The quantization rule of int8: a real number is a whole number times a scale. It is linear and symmetric (Jacob et
// al. 2018, arXiv 1712.05877, without its zero point). Weights of files, products of whole numbers and
// quantization-aware training all use it.
//
//   weights    scale = the largest |w| of an output / 127, whole = w / scale         -127 to 127
//   inputs     step = the largest |x| / 255 where none is below 0, else / 127        0 to 255, or -128 to 127
//
// Quotients are rounded to the nearest whole number, ties to even. ir/wholes.h builds the same rule as IR. The runtime
// includes only this header.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace heddle::ir {

inline constexpr float kMostOfByte = 255, kMostOfSigned = 127, kLeastOfSigned = -128;
inline constexpr float kLeastScale = std::numeric_limits<float>::min();  // keeps 1 / scale finite
inline constexpr float kLargestWeightScale = 0x1.020406p+121F;           // 127 times this is finite

// The scale with which numbers of magnitude up to `largest` become wholes from -most to most. scale * most is finite.
inline float scale_for(float largest, float most) {
  const float scale = std::max(largest / most, kLeastScale);
  return std::isfinite(scale * most) ? scale : std::nextafter(scale, 0.0F);
}

// Inputs between `low` and `high`: whether they become u8 (else i8), and the step between two neighbouring values.
inline bool becomes_unsigned(float low) { return low >= 0; }
inline float step_for(float low, float high) {
  const float most = becomes_unsigned(low) ? kMostOfByte : kMostOfSigned;
  return std::max(std::max(std::abs(low), std::abs(high)) / most, kLeastScale);
}

// Names of the states beside a weight: its scales, f32[outputs]; the step of its inputs, f32[], if it is fixed; the
// least and the largest input observed, f32[] each (both 0: only zeros were seen, or nothing).
inline std::string int8_scale_name(const std::string& weight) { return weight + ".int8_scale"; }
inline std::string int8_input_name(const std::string& weight) { return weight + ".int8_input"; }
inline std::string observed_low_name(const std::string& weight) { return weight + ".observed_low"; }
inline std::string observed_high_name(const std::string& weight) { return weight + ".observed_high"; }

}  // namespace heddle::ir
