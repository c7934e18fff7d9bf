// Reads Windows bitmaps: the header, and then the rows one by one.
//
//   Bmp bmp = read_bmp(content);              {.height = 480, .width = 640, ...}, or {.fault = "its pixels end early"}
//   decode_bmp_row(bmp, content, 0, rgba);    the row at the top: red, green, blue, opacity of each pixel
//
// Pixels may have 1, 4, 8, 16, 24 or 32 bits, with a palette or masks, stored from the top or from the bottom. Without
// a mask for opacity, pixels are opaque. Compressed bitmaps (RLE, JPEG, PNG) are not read. The format: Microsoft's
// "Bitmap Storage" and BITMAPV5HEADER.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace heddle::runtime::data {

struct Bmp {
  int64_t height = 0, width = 0;
  bool from_top = false;
  int bits = 0;          // of a pixel
  size_t pixels = 0;     // where they begin
  size_t row_bytes = 0;  // from one row to the next one
  size_t palette = 0;    // where it begins; for up to 8 bits
  size_t colours = 0, colour_bytes = 4;
  std::array<uint32_t, 4> masks = {};  // red, green, blue, opacity; for 16 and 32 bits
  std::string fault = {};              // why it cannot be read; else empty
};

// Reads the header. Where there is no fault, all pixels lie inside the file.
Bmp read_bmp(std::span<const std::byte> file);
// `rgba` has four bytes for each pixel of the row. Returns false where a pixel's number is not in the palette.
bool decode_bmp_row(const Bmp& bmp, std::span<const std::byte> file, int64_t y, std::span<std::byte> rgba);

}  // namespace heddle::runtime::data
