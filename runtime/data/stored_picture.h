// The common interface of the picture readers GIF, TIFF and WebP: first the size is known, then the pixels come row by
// row.
//
//   GifPicture gif(file);                     gif.stored = {.height = 480, .width = 640}, or {.fault = "..."}
//   gif.decode(take);                         take(y, rgba) once for each row, in any order
//     -> "" or what is wrong with the pixels
//
// A row is the red, green, blue and opacity of each pixel, 8 bits each.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace heddle::runtime::data {

inline constexpr const char* kInksHelp = "convert it to RGB: ImageMagick's mogrify -colorspace sRGB";

struct StoredPicture {
  int64_t height = 0, width = 0;
  int orientation = 1;     // picture_turn.h
  std::string fault = {};  // why it cannot be read; else empty
  std::string help = {};   // the remedy; empty: to convert the file
};

using TakeRow = std::function<void(int64_t y, std::span<const std::byte> rgba)>;

}  // namespace heddle::runtime::data
