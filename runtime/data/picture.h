// Pictures: files of PNG and JPEG as rows of 8-bit values, by libpng and libjpeg-turbo.
//
//   read_picture("cats/7.png", "cats/7.png", where, {.height = 32, .width = 32, .channels = 3}, to)
//     -> 3072 bytes at `to`: rows from the top, pixels from the left, red, green, blue
//
// Palettes and 16-bit values become 8-bit ones, what is transparent is drawn on black; grey
// pictures fill three channels, coloured ones become grey by their luminance, of their values as
// they are stored. Nothing is scaled or turned.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

#include "ir/diagnostic.h"

namespace heddle::runtime::data {

struct PictureSize {
  int64_t height = 0, width = 0, channels = 0;
  int64_t bytes() const { return height * width * channels; }
};

// UserError at `where` where the file is no picture, is damaged, or has another size.
void read_picture(const std::filesystem::path& file, const std::string& name, const Location& where, PictureSize size,
                  std::byte* to);

}  // namespace heddle::runtime::data
