// Pictures of any size become those of the input's, antialiased.
//
//   resize_picture(pixels, {.height = 480, .width = 640, .channels = 3}, {.how = ResizeKind::cover},
//                  {.height = 224, .width = 224, .channels = 3}, to)
//     -> the middle 480 x 480 pixels as 224 x 224
//
// Sizes, windows and values are those of Pillow, each value within 1: ImageOps.pad on black (fit), ImageOps.fit (cover)
// and Image.resize (stretch). The filter's support grows with the picture, so that each pixel counts: a triangle, or
// the cubic of Keys 1981 (doi:10.1109/TASSP.1981.1163711) with a = -1/2. Values between the two passes have 8 bits.
// A side that rounds to 0 leaves nothing to draw, as by Pillow: the result is black.
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

// Both have as many channels, 1 or 3, and sides of at least 1; `resizing` is not none.
void resize_picture(const std::byte* from, PictureSize size, Resizing resizing, PictureSize result, std::byte* to);

// The same window, of one channel, without new values: each element is the pixel below its middle, as by NEAREST.
void resize_nearest(const std::byte* from, PictureSize size, ResizeKind how, PictureSize result, std::byte* to);

}  // namespace heddle::runtime::data
