// Pictures: files of PNG, JPEG, BMP, WebP, TIFF and GIF as rows of 8-bit values, by libpng, libjpeg-turbo and the readers
// beside this file (picture_bmp.h, picture_webp.h, picture_tiff.h, picture_gif.h). The content says which it is.
//
//   read_picture("cats/7.png", "cats/7.png", where, {.height = 32, .width = 32, .channels = 3}, to)
//     -> 3072 bytes at `to`: rows from the top, pixels from the left, red, green, blue
//
// Palettes and 16-bit values become 8-bit ones, what is transparent is drawn on black; grey
// pictures fill three channels, coloured ones become grey by their luminance, of their values as
// they are stored, whatever a file says of gamma and profiles. A JPEG and a WebP are turned as their Exif says, a TIFF
// as its orientation does (picture_turn.h); of another size than the input's a picture is resized where that is asked for
// (picture_resize.h).
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "ir/diagnostic.h"
#include "runtime/data/picture_resize.h"

namespace heddle::runtime::data {

// Of a picture that is resized.
inline constexpr int64_t kMostPixels = int64_t{1} << 26;

// ".png", ..., in small letters; and whether a file's name ends so.
const std::vector<std::string>& picture_endings();
std::string told_picture_endings();  // "files end in .png, ... or .gif"
bool named_picture(const std::filesystem::path& path);

// UserError at `where` where the file is no picture, is damaged, or has another size and `resizing` is none.
void read_picture(const std::filesystem::path& file, const std::string& name, const Location& where, PictureSize size,
                  std::byte* to, Resizing resizing = {});

}  // namespace heddle::runtime::data
