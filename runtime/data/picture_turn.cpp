#include "runtime/data/picture_turn.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

namespace heddle::runtime::data {
namespace {

// Orientations from here on have rows that are columns of the picture.
constexpr int kFirstTransposed = 5, kUpright = 1, kMostOrientation = 8;

// Whole numbers of 2 or 4 bytes in either order; none where the bytes end.
struct Tiff {
  std::span<const unsigned char> bytes;
  bool big_endian = false;

  std::optional<uint32_t> number(size_t at, size_t width) const {
    if (at > bytes.size() || width > bytes.size() - at) return std::nullopt;
    uint32_t value = 0;
    for (size_t i = 0; i < width; ++i) value = value << 8 | bytes[at + (big_endian ? i : width - 1 - i)];
    return value;
  }
  bool has(size_t at, size_t width, uint32_t value) const { return number(at, width) == value; }
};

}  // namespace

int exif_orientation(std::span<const unsigned char> exif) {
  constexpr std::string_view kExif{"Exif\0\0", 6};
  constexpr size_t kEntry = 12;
  constexpr uint32_t kOrientation = 0x112, kShort = 3, kMagic = 42;
  const bool named = exif.size() >= kExif.size() && std::equal(kExif.begin(), kExif.end(), exif.begin());
  Tiff tiff{named ? exif.subspan(kExif.size()) : exif};
  if (tiff.has(0, 2, 0x4d4d)) tiff.big_endian = true;
  if (!tiff.big_endian && !tiff.has(0, 2, 0x4949)) return kUpright;
  const std::optional<uint32_t> directory = tiff.number(4, 4);
  if (!tiff.has(2, 2, kMagic) || !directory) return kUpright;
  const std::optional<uint32_t> entries = tiff.number(*directory, 2);
  for (uint32_t i = 0; entries && i < *entries; ++i) {
    const size_t at = size_t{*directory} + 2 + i * kEntry;
    const std::optional<uint32_t> tag = tiff.number(at, 2), value = tiff.number(at + 8, 2);
    if (!tag || !value) return kUpright;
    if (*tag != kOrientation) continue;
    const bool valid =
        tiff.has(at + 2, 2, kShort) && tiff.has(at + 4, 4, 1) && *value >= 1 && *value <= kMostOrientation;
    return valid ? static_cast<int>(*value) : kUpright;
  }
  return kUpright;
}

PictureSize turned_size(PictureSize stored, int orientation) {
  if (orientation >= kFirstTransposed) std::swap(stored.height, stored.width);
  return stored;
}

void turn_picture(const std::byte* from, PictureSize stored, int orientation, std::byte* to) {
  const PictureSize size = turned_size(stored, orientation);
  const bool from_right = orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8,
             from_bottom = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  for (int64_t y = 0; y < size.height; ++y)
    for (int64_t x = 0; x < size.width; ++x) {
      int64_t row = y, column = x;
      if (orientation >= kFirstTransposed) std::swap(row, column);
      if (from_bottom) row = stored.height - 1 - row;
      if (from_right) column = stored.width - 1 - column;
      to = std::copy_n(from + (row * stored.width + column) * stored.channels, stored.channels, to);
    }
}

}  // namespace heddle::runtime::data
