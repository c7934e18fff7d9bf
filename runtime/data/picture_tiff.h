// Reads TIFF files by libtiff: the first page, in strips or tiles.
//
//   TiffPicture tiff(file);     {.height = 480, .width = 640, .orientation = 6}, or {.fault = "..."}
//   tiff.decode(take)           16 bits become their upper 8, as Pillow reads them
//
// These are read, in any compression that libtiff decodes: grey of 1, 2, 4, 8 and 16 bits, palettes of up to 8 bits,
// RGB of 8 and 16 bits, each with or without opacity, and YCbCr. Values that are premultiplied by their opacity are
// already those on black. Other colours, samples of other types, and old-style JPEG (compression 6, before TIFF's
// Technical Note 2) are not read.
#pragma once
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "runtime/data/stored_picture.h"
#include "runtime/data/tiff_file.h"

namespace heddle::runtime::data {

class TiffPicture {
 public:
  explicit TiffPicture(std::span<const std::byte> file);
  std::string decode(const TakeRow& take);  // only without a fault
  StoredPicture stored;

 private:
  enum class Colours { grey, grey_from_white, palette, rgb, other };
  enum class Opacity { none, straight, premultiplied };

  struct Samples {  // one sample for each pixel of a row, 8 bits each
    const std::byte* at;
    size_t step;
  };

  void read_layout();
  std::string layout_fault();
  void read_pieces();
  void read_opacity();
  std::vector<std::byte> read_palette();
  std::vector<std::byte> colours_of_values();
  bool read_piece(uint32_t x, uint32_t y, uint16_t plane);
  Samples samples(size_t index, size_t row, size_t columns);
  void place_row(size_t row, size_t columns, std::byte* rgba);
  std::string decode_by_library(const TakeRow& take);
  std::string damage() const;

  TiffFile tiff_;
  Colours colours_ = Colours::other;
  Opacity opacity_ = Opacity::none;
  bool tiled_ = false, planar_ = false;
  bool by_library_ = false;  // YCbCr: libtiff converts it to RGB
  uint16_t bits_ = 0, samples_ = 0;
  uint32_t piece_width_ = 0, piece_height_ = 0;      // a strip's, or a tile's
  size_t row_bytes_ = 0;                             // of a piece's plane
  std::vector<std::byte> of_values_ = {};            // red, green and blue of each value of a single sample
  std::vector<std::vector<std::byte>> planes_ = {};  // of the piece that was read
  std::array<std::vector<std::byte>, 4> made_ = {};  // a row of a sample that is not stored in 8 bits
};

}  // namespace heddle::runtime::data
