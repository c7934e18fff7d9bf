// Resizes a picture to the size of the input, with antialiasing.
//
//   resize_picture(pixels, {.height = 480, .width = 640, .channels = 3}, {.how = ResizeKind::cover},
//                  {.height = 224, .width = 224, .channels = 3}, to)
//     -> the middle 480 x 480 pixels as 224 x 224
//
// The results are those of Pillow, each value within 1: ImageOps.pad on black (fit), ImageOps.fit (cover) and
// Image.resize (stretch). The filter is a triangle, or the cubic of Keys 1981 (doi:10.1109/TASSP.1981.1163711) with a =
// -1/2. Its support grows with the picture, so that each pixel counts. Values between the two passes have 8 bits. Where
// a side rounds to 0, the result is black, as in Pillow.
#pragma once
#include <cstddef>
#include <cstdint>

namespace heddle::runtime::data {

struct PictureSize {
  int64_t height = 0, width = 0, channels = 0;
  int64_t bytes() const { return height * width * channels; }
};

enum class ResizeKind {
  none,     // another size is an error
  fit,      // the whole picture, in the middle of a black border
  cover,    // the middle of the picture, which fills the result
  stretch,  // the whole picture, with other proportions
};
struct Resizing {
  ResizeKind how = ResizeKind::none;
  bool bicubic = false;
};

// Requires: both pictures have the same number of channels, 1 or 3; sides are at least 1; `resizing` is not none.
void resize_picture(const std::byte* from, PictureSize size, Resizing resizing, PictureSize result, std::byte* to);

}  // namespace heddle::runtime::data
