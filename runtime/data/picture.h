// Reads pictures (PNG, JPEG, BMP, WebP, TIFF and GIF files) as 8-bit values, by libpng, libjpeg-turbo and the readers
// beside this file (picture_bmp.h, picture_webp.h, picture_tiff.h, picture_gif.h). The file's content decides the
// format.
//
//   read_picture("cats/7.png", "cats/7.png", where, {.height = 32, .width = 32, .channels = 3}, to)
//     -> 3072 bytes at `to`: rows from the top, pixels from the left, red, green, blue
//
// Palettes and 16-bit values become 8-bit values. Transparent pixels are drawn on black. A grey picture fills three
// channels; a coloured one becomes grey by the luminance of its stored values. Gamma and colour profiles are ignored.
// JPEG and WebP are turned as their Exif says, TIFF as its orientation says (picture_turn.h). A picture of another size
// than the input's is resized where that is asked for (picture_resize.h).
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "ir/diagnostic.h"
#include "runtime/data/picture_resize.h"

namespace heddle::runtime::data {

// The most pixels of a picture that is resized.
inline constexpr int64_t kMostPixels = int64_t{1} << 26;

// The endings of picture files in lower case: ".png", ...
const std::vector<std::string>& picture_endings();
std::string told_picture_endings();  // "files end in .png, ... or .gif"
bool named_picture(const std::filesystem::path& path);

// Throws UserError at `where` where the file is not a picture, is damaged, or has another size and `resizing` is none.
void read_picture(const std::filesystem::path& file, const std::string& name, const Location& where, PictureSize size,
                  std::byte* to, Resizing resizing = {});

}  // namespace heddle::runtime::data
