// Row conversion to f32 with one factor, as wide as the machine's vectors.
//
//   u8 {0, 128, 255}, factor 1/255 -> f32 {0, 0.502, 1}
//
// Each element is one multiplication of two floats, so the bits do not depend on the vector width.
#pragma once
#include <cstdint>

namespace heddle::runtime::data {

void convert_scaled(const uint8_t* from, float* to, int64_t n, float factor);

template <class Source>
void convert_scaled(const Source* from, float* to, int64_t n, float factor) {
  for (int64_t i = 0; i < n; ++i) to[i] = static_cast<float>(from[i]) * factor;
}

}  // namespace heddle::runtime::data
