#include "runtime/data/picture_tiff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "runtime/data/picture_library.h"

namespace heddle::runtime::data {
namespace {

constexpr int kByte = 8;
constexpr size_t kRgba = 4, kColours = 3;
constexpr uint16_t kMostSamples = 64;  // pictures of instruments have some more than are looked at

}  // namespace

TiffPicture::TiffPicture(std::span<const std::byte> file) : tiff_(file) {
  if (!tiff_) {
    stored.fault = tiff_.problem();
    if (tiff_.library == nullptr) stored.help = kInstallHelp;
    return;
  }
  read_layout();
  stored.fault = layout_fault();
  if (!stored.fault.empty() || colours_ == Colours::rgb) return;
  of_values_ = colours_of_values();
  if (of_values_.empty()) stored.fault = "it has no palette";
}

void TiffPicture::read_layout() {
  stored.height = tiff_.number(TIFFTAG_IMAGELENGTH), stored.width = tiff_.number(TIFFTAG_IMAGEWIDTH);
  const uint16_t orientation = tiff_.short_number(TIFFTAG_ORIENTATION);
  if (orientation >= 1 && orientation <= 8) stored.orientation = orientation;
  bits_ = tiff_.short_number(TIFFTAG_BITSPERSAMPLE), samples_ = tiff_.short_number(TIFFTAG_SAMPLESPERPIXEL);
  planar_ = tiff_.short_number(TIFFTAG_PLANARCONFIG) == PLANARCONFIG_SEPARATE && samples_ > 1;
  uint16_t photometric = 0;
  if (tiff_.library->get(tiff_.get(), TIFFTAG_PHOTOMETRIC, &photometric) == 0)
    photometric = samples_ >= kColours ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK;
  const bool jpeg = tiff_.short_number(TIFFTAG_COMPRESSION) == COMPRESSION_JPEG;
  switch (photometric) {
    case PHOTOMETRIC_MINISWHITE: colours_ = Colours::grey_from_white; break;
    case PHOTOMETRIC_MINISBLACK: colours_ = Colours::grey; break;
    case PHOTOMETRIC_PALETTE: colours_ = Colours::palette; break;
    case PHOTOMETRIC_RGB: colours_ = Colours::rgb; break;
    case PHOTOMETRIC_YCBCR:
      colours_ = Colours::rgb;
      by_library_ = !jpeg || planar_;  // libjpeg makes red, green and blue itself
      if (!by_library_) tiff_.library->set(tiff_.get(), TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
      break;
    case PHOTOMETRIC_SEPARATED:
      stored.fault = "its colours are the four inks of printers, CMYK", stored.help = kInksHelp;
      break;
    default: stored.fault = fmt::format("its colours are of the kind {}", photometric);
  }
  read_opacity();
  read_pieces();
}

void TiffPicture::read_opacity() {
  const uint16_t colours = colours_ == Colours::rgb ? kColours : 1;
  uint16_t count = 0, *kinds = nullptr;
  tiff_.library->get(tiff_.get(), TIFFTAG_EXTRASAMPLES, &count, &kinds);
  if (samples_ <= colours || colours_ == Colours::palette) return;
  if (count == 0 || kinds == nullptr || tiff_.no_extra_samples)  // as Pillow takes it
    opacity_ = samples_ == colours + 1 ? Opacity::straight : Opacity::none;
  else if (kinds[0] != EXTRASAMPLE_UNSPECIFIED)
    opacity_ = kinds[0] == EXTRASAMPLE_ASSOCALPHA ? Opacity::premultiplied : Opacity::straight;
}

void TiffPicture::read_pieces() {
  tiled_ = tiff_.library->is_tiled(tiff_.get()) != 0;
  piece_width_ = tiled_ ? tiff_.number(TIFFTAG_TILEWIDTH) : static_cast<uint32_t>(stored.width);
  piece_height_ = tiff_.number(tiled_ ? TIFFTAG_TILELENGTH : TIFFTAG_ROWSPERSTRIP);
  if (!tiled_) piece_height_ = std::min(piece_height_, static_cast<uint32_t>(stored.height));
  row_bytes_ = (size_t{piece_width_} * bits_ * (planar_ ? 1 : samples_) + kByte - 1) / kByte;
}

std::string TiffPicture::layout_fault() {
  if (!stored.fault.empty()) return stored.fault;
  if (stored.height == 0 || stored.width == 0) return "it has no pixels";
  const uint16_t compression = tiff_.short_number(TIFFTAG_COMPRESSION), type = tiff_.short_number(TIFFTAG_SAMPLEFORMAT);
  if (compression == COMPRESSION_OJPEG) return "its pixels are compressed by the JPEG of TIFF 6, which was given up";
  if (tiff_.library->has_codec(compression) == 0)
    return fmt::format("its pixels are compressed in way {}, which this libtiff does not know", compression);
  if (type != SAMPLEFORMAT_UINT && type != SAMPLEFORMAT_VOID) return "its samples are not whole numbers from 0 on";
  const bool few = bits_ == 1 || bits_ == 2 || bits_ == 4;
  const bool read =
      bits_ == kByte || (bits_ == 2 * kByte && colours_ != Colours::palette) || (few && colours_ != Colours::rgb);
  if (!read || (by_library_ && bits_ != kByte)) return fmt::format("its samples have {} bits", bits_);
  if (samples_ < (colours_ == Colours::rgb ? kColours : 1) || samples_ > kMostSamples)
    return fmt::format("it has {} samples in a pixel", samples_);
  if (piece_width_ == 0 || piece_height_ == 0) return "its strips or tiles have no pixels";
  return {};
}

std::vector<std::byte> TiffPicture::read_palette() {
  uint16_t *red = nullptr, *green = nullptr, *blue = nullptr;
  if (tiff_.library->get(tiff_.get(), TIFFTAG_COLORMAP, &red, &green, &blue) == 0) return {};
  const size_t count = size_t{1} << bits_;
  // Some writers store 8 bits where 16 belong.
  int upper = 0;
  for (const uint16_t* values : {red, green, blue})
    if (std::any_of(values, values + count, [](uint16_t v) { return v > 0xff; })) upper = kByte;
  std::vector<std::byte> palette;
  for (size_t i = 0; i < count; ++i)
    for (const uint16_t* values : {red, green, blue}) palette.push_back(static_cast<std::byte>(values[i] >> upper));
  return palette;
}

std::string TiffPicture::damage() const { return tiff_.problem().empty() ? "it ends early" : tiff_.problem(); }

// A warning counts as damage: a truncated file would end in grey.
bool TiffPicture::read_piece(uint32_t x, uint32_t y, uint16_t plane) {
  const uint32_t left = static_cast<uint32_t>(stored.height) - y,
                 rows = tiled_ ? piece_height_ : std::min(piece_height_, left);
  std::vector<std::byte>& to = planes_[plane];
  const auto size = static_cast<tmsize_t>(row_bytes_ * rows);
  TIFF* tiff = tiff_.get();
  const tmsize_t got =
      tiled_ ? tiff_.library->read_tile(tiff, tiff_.library->tile_at(tiff, x, y, 0, plane), to.data(), size)
             : tiff_.library->read_strip(tiff, tiff_.library->strip_at(tiff, y, plane), to.data(), size);
  return got == size && tiff_.problem().empty();
}

// Samples of other widths become 8 bits in a line of their own; few bits stay the numbers that they are.
TiffPicture::Samples TiffPicture::samples(size_t index, size_t row, size_t columns) {
  const size_t plane = planar_ ? index : 0, step = planar_ ? 1 : samples_, first = planar_ ? 0 : index;
  const std::byte* line = planes_[plane].data() + row * row_bytes_;
  if (bits_ == kByte) return {line + first, step};
  std::vector<std::byte>& made = made_[index];
  made.resize(columns);
  for (size_t x = 0, at = first; x < columns; ++x, at += step) {
    if (bits_ == 2 * kByte) {  // in this machine's order
      uint16_t value = 0;
      std::memcpy(&value, line + at * sizeof(value), sizeof(value));
      made[x] = static_cast<std::byte>(value >> kByte);
    } else {
      const size_t bit = at * bits_, unused = kByte - bits_ - bit % kByte;
      made[x] = line[bit / kByte] >> unused & static_cast<std::byte>((1U << bits_) - 1);
    }
  }
  return {made.data(), 1};
}

// The red, green and blue of each value of a picture of one sample: its palette, or greys.
std::vector<std::byte> TiffPicture::colours_of_values() {
  if (colours_ == Colours::palette) return read_palette();
  const uint32_t most = bits_ < kByte ? (1U << bits_) - 1 : 0xff;
  std::vector<std::byte> greys;
  for (uint32_t value = 0; value <= most; ++value) {
    const uint32_t v = value * 0xff / most;
    greys.insert(greys.end(), kColours, static_cast<std::byte>(colours_ == Colours::grey_from_white ? 0xff - v : v));
  }
  return greys;
}

void TiffPicture::place_row(size_t row, size_t columns, std::byte* rgba) {
  const bool rgb = colours_ == Colours::rgb;
  for (size_t c = 0; rgb && c < kColours; ++c) {
    const Samples from = samples(c, row, columns);
    for (size_t x = 0; x < columns; ++x) rgba[x * kRgba + c] = from.at[x * from.step];
  }
  if (!rgb) {
    const Samples from = samples(0, row, columns);
    for (size_t x = 0; x < columns; ++x)
      std::copy_n(of_values_.data() + kColours * std::to_integer<size_t>(from.at[x * from.step]), kColours,
                  rgba + x * kRgba);
  }
  if (opacity_ == Opacity::straight) {
    const Samples from = samples(rgb ? kColours : 1, row, columns);
    const unsigned most = bits_ < kByte ? (1U << bits_) - 1 : 0xff;
    for (size_t x = 0; x < columns; ++x)
      rgba[x * kRgba + kColours] =
          static_cast<std::byte>(std::to_integer<unsigned>(from.at[x * from.step]) * 0xff / most);
  } else {
    for (size_t x = 0; x < columns; ++x) rgba[x * kRgba + kColours] = std::byte{0xff};
  }
}

std::string TiffPicture::decode(const TakeRow& take) {
  tiff_.forget();
  if (by_library_) return decode_by_library(take);
  const size_t colours = colours_ == Colours::rgb ? kColours : 1,
               used = colours + (opacity_ == Opacity::straight ? 1 : 0);
  planes_.resize(planar_ ? used : 1);
  if (row_bytes_ > static_cast<size_t>(kMostTiffBytes) / planes_.size() / piece_height_)
    return fmt::format("a strip or tile of {} x {}, at most {} bytes are decoded at once", piece_height_, piece_width_,
                       kMostTiffBytes);
  for (std::vector<std::byte>& plane : planes_) plane.resize(row_bytes_ * piece_height_);
  const auto width = static_cast<uint32_t>(stored.width), height = static_cast<uint32_t>(stored.height);
  std::vector<std::byte> band;
  for (uint32_t y = 0; y < height; y += std::min(piece_height_, height - y)) {
    const uint32_t rows = std::min(piece_height_, height - y);
    band.resize(size_t{rows} * width * kRgba);
    for (uint32_t x = 0; x < width; x += std::min(piece_width_, width - x)) {
      for (size_t plane = 0; plane < planes_.size(); ++plane)
        if (!read_piece(x, y, static_cast<uint16_t>(plane))) return damage();
      const uint32_t columns = std::min(piece_width_, width - x);
      for (uint32_t row = 0; row < rows; ++row)
        place_row(row, columns, band.data() + (size_t{row} * width + x) * kRgba);
    }
    for (uint32_t row = 0; row < rows; ++row)
      take(y + row, std::span(band).subspan(size_t{row} * width * kRgba, size_t{width} * kRgba));
  }
  return {};
}

std::string TiffPicture::decode_by_library(const TakeRow& take) {
  const auto width = static_cast<uint32_t>(stored.width), height = static_cast<uint32_t>(stored.height);
  std::vector<uint32_t> pixels(size_t{width} * height);
  // The orientation that it has: nothing is turned.
  const bool read = tiff_.library->read_rgba(tiff_.get(), width, height, pixels.data(), stored.orientation, 1) != 0;
  if (!read || !tiff_.problem().empty()) return damage();
  std::vector<std::byte> row(size_t{width} * kRgba);
  for (uint32_t y = 0; y < height; ++y) {
    for (size_t x = 0; x < width; ++x) {
      const uint32_t p = pixels[size_t{y} * width + x];
      const uint32_t channels[] = {TIFFGetR(p), TIFFGetG(p), TIFFGetB(p), 0xff};
      for (size_t c = 0; c < kRgba; ++c) row[x * kRgba + c] = static_cast<std::byte>(channels[c]);
    }
    take(y, row);
  }
  return {};
}

}  // namespace heddle::runtime::data
