// The rule of int8, which weights of files, products of whole numbers and trainings for both have in common: a number is a
// whole one times a scale, symmetric and linear (Jacob et al. 2018, arXiv 1712.05877, without its zero point).
//
//   weights    scale = the largest |w| of an output / 127, whole = w / scale         -127 to 127
//   inputs     step = the largest |x| / 255 where none is below 0, else / 127        0 to 255, or -128 to 127
//
// Whole numbers are rounded to the nearest, of two to the even one. ir/wholes.h has the same in IR. The runtime reads this
// header alone.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace heddle::ir {

inline constexpr float kMostOfByte = 255, kMostOfSigned = 127, kLeastOfSigned = -128;
inline constexpr float kLeastScale = std::numeric_limits<float>::min();  // so that a quotient by it is no infinity
inline constexpr float kLargestWeightScale = 0x1.020406p+121F;           // 127 of them are no infinity

// Numbers whose largest is `largest` become wholes from -most to most, which are no infinity either.
inline float scale_for(float largest, float most) {
  const float scale = std::max(largest / most, kLeastScale);
  return std::isfinite(scale * most) ? scale : std::nextafter(scale, 0.0F);
}

// Of inputs between two numbers: whether they become u8, else i8, and by which step.
inline bool becomes_unsigned(float low) { return low >= 0; }
inline float step_for(float low, float high) {
  const float most = becomes_unsigned(low) ? kMostOfByte : kMostOfSigned;
  return std::max(std::max(std::abs(low), std::abs(high)) / most, kLeastScale);
}

// The states beside a weight: its scales, f32[outputs], and the step of its inputs, f32[], where it is fixed; what its
// inputs lie between, f32[] each. Both 0: nothing else was seen.
inline std::string int8_scale_name(const std::string& weight) { return weight + ".int8_scale"; }
inline std::string int8_input_name(const std::string& weight) { return weight + ".int8_input"; }
inline std::string observed_low_name(const std::string& weight) { return weight + ".observed_low"; }
inline std::string observed_high_name(const std::string& weight) { return weight + ".observed_high"; }

}  // namespace heddle::ir
