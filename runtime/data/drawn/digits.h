// Synthetic digits: a labelled data set that needs no download. Stroke skeletons of the ten digits are drawn under
// random affine maps, stroke widths, contrasts and noise.
//
//   {"op": "synthetic", "rows": 6000, "seed": 7, "image": "image", "label": "label"} -> image u8[28,28,1], label u8[]
//
// Row r of seed s is the same picture on every machine, whatever else is drawn. The classes overlap under translation,
// rotation and shear, so that a linear classifier fails where a small convolutional network does not.
#pragma once
#include <cstdint>
#include <vector>

namespace heddle::runtime::data {

struct Digit {
  int label = 0;
  std::vector<uint8_t> pixels;  // height x width, row-major
};
Digit draw_digit(uint64_t seed, int64_t row, int64_t height, int64_t width);
// The digit's label, without drawing the picture.
int digit_label(uint64_t seed, int64_t row);

}  // namespace heddle::runtime::data
