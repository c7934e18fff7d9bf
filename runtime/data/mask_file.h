// Masks: PNG files whose values are classes of pixels, as rows of bytes.
//
//   read_mask("cats/7.png", "cats/7.png", where, 32, 32, {.how = ResizeKind::cover}, to)
//     -> 1024 bytes at `to`: a grey picture's values, or the numbers of a palette's colours, as the file stores them
//
// Values of 1, 2, 4 and 8 bits stay what they are: no colour is computed. Of another size than the input's a mask is
// resized as the picture beside it, and takes the nearest pixel.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

#include "ir/diagnostic.h"
#include "runtime/data/picture_resize.h"

namespace heddle::runtime::data {

// UserError at `where` where the file is no such PNG, is damaged, or has another size and `how` is none.
void read_mask(const std::filesystem::path& file, const std::string& name, const Location& where, int64_t height,
               int64_t width, ResizeKind how, std::byte* to);

}  // namespace heddle::runtime::data
