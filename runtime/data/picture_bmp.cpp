#include "runtime/data/picture_bmp.h"

#include <fmt/format.h>

#include <bit>
#include <optional>

namespace heddle::runtime::data {
namespace {

enum Compression : uint32_t { none = 0, bitfields = 3, alpha_bitfields = 6 };
constexpr size_t kFileHeader = 14, kCoreHeader = 12, kInfoHeader = 40, kLargestHeader = 124;
// Masks stand in a longer header, or behind the short one, at the same place; that of opacity in headers from here on.
constexpr size_t kWithOpacity = 56, kMaskAt = 54;

// A number of `width` bytes; none where the file ends.
std::optional<uint32_t> number(std::span<const std::byte> file, size_t at, size_t width) {
  if (at > file.size() || width > file.size() - at) return std::nullopt;
  uint32_t value = 0;
  for (size_t i = width; i-- > 0;) value = value << 8 | std::to_integer<uint32_t>(file[at + i]);
  return value;
}

// The sides; what they may be in memory is the caller's to say.
bool read_sides(std::span<const std::byte> file, size_t header, Bmp& bmp) {
  const bool core = header == kCoreHeader;
  const auto width = number(file, 18, core ? 2 : 4), height = number(file, core ? 20 : 22, core ? 2 : 4);
  if (!width || !height) return false;
  const int64_t down = core ? int64_t{*height} : int64_t{std::bit_cast<int32_t>(*height)};
  bmp.width = core ? int64_t{*width} : int64_t{std::bit_cast<int32_t>(*width)};
  bmp.from_top = down < 0;
  bmp.height = down < 0 ? -down : down;
  return bmp.width > 0 && bmp.height > 0;
}

std::string read_masks(std::span<const std::byte> file, size_t header, uint32_t compression, Bmp& bmp) {
  if (bmp.bits != 16 && bmp.bits != 32) return compression == none ? "" : "has masks, and pixels without";
  if (compression == none) {
    bmp.masks = bmp.bits == 16 ? std::array<uint32_t, 4>{0x7c00, 0x3e0, 0x1f, 0}
                               : std::array<uint32_t, 4>{0xff0000, 0xff00, 0xff, 0};
    return {};
  }
  const bool opacity = header >= kWithOpacity || compression == alpha_bitfields;
  for (size_t i = 0; i < (opacity ? 4U : 3U); ++i) {
    const auto mask = number(file, kMaskAt + 4 * i, 4);
    if (!mask) return "its header ends early";
    // Ones without a gap, which fit the pixel.
    const uint32_t ones = *mask == 0 ? 0 : *mask >> std::countr_zero(*mask);
    if ((ones & (ones + 1)) != 0 || (*mask == 0 && i < 3) || (bmp.bits == 16 && *mask > 0xffff))
      return fmt::format("a mask of its colours is {:#x}", *mask);
    bmp.masks[i] = *mask;
  }
  return {};
}

std::string read_palette(std::span<const std::byte> file, size_t header, uint32_t compression, Bmp& bmp) {
  if (bmp.bits > 8) return {};
  const size_t most = size_t{1} << bmp.bits;
  bmp.palette = kFileHeader + header;
  if (header == kInfoHeader && compression == bitfields) bmp.palette += 12;
  bmp.colour_bytes = header == kCoreHeader ? 3 : 4;
  bmp.colours = most;
  if (header != kCoreHeader) {
    const auto used = number(file, 46, 4);
    if (!used || *used > most) return fmt::format("its palette has {} colours", used.value_or(0));
    if (*used > 0) bmp.colours = *used;
  }
  if (bmp.palette + bmp.colours * bmp.colour_bytes > file.size()) return "its palette ends early";
  return {};
}

// Each of `bits` values 0 ... 2^bits - 1 as 0 ... 255, rounded.
std::byte to_byte(uint32_t pixel, uint32_t mask) {
  if (mask == 0) return std::byte{255};
  const auto most = uint64_t{mask} >> std::countr_zero(mask);
  return static_cast<std::byte>(((uint64_t{pixel & mask} >> std::countr_zero(mask)) * 255 + most / 2) / most);
}

}  // namespace

Bmp read_bmp(std::span<const std::byte> file) {
  Bmp bmp;
  const auto fail = [&](std::string fault) {
    bmp.fault = std::move(fault);
    return bmp;
  };
  const auto pixels = number(file, 10, 4), header = number(file, kFileHeader, 4);
  if (!pixels || !header || *header > file.size() - kFileHeader) return fail("its header ends early");
  if (*header != kCoreHeader && (*header < kInfoHeader || *header > kLargestHeader))
    return fail(fmt::format("its header has {} bytes", *header));
  if (!read_sides(file, *header, bmp)) return fail("one of its sides is 0 or less");
  const bool core = *header == kCoreHeader;
  bmp.bits = static_cast<int>(number(file, core ? 24 : 28, 2).value_or(0));
  if (bmp.bits != 1 && bmp.bits != 4 && bmp.bits != 8 && bmp.bits != 16 && bmp.bits != 24 && bmp.bits != 32)
    return fail(fmt::format("its pixels have {} bits", bmp.bits));
  const uint32_t compression = core ? none : number(file, 30, 4).value_or(0);
  if (compression != none && compression != bitfields && compression != alpha_bitfields)
    return fail(fmt::format("its pixels are compressed, in way {}", compression));
  for (const auto& read : {read_masks, read_palette})
    if (std::string fault = read(file, *header, compression, bmp); !fault.empty()) return fail(std::move(fault));
  bmp.pixels = *pixels;
  // Sides are below 2^31: no product of these overflows.
  const uint64_t row = (static_cast<uint64_t>(bmp.width) * static_cast<uint64_t>(bmp.bits) + 31) / 32 * 4;
  if (bmp.pixels < kFileHeader + *header || bmp.pixels > file.size() ||
      (file.size() - bmp.pixels) / row < static_cast<uint64_t>(bmp.height))
    return fail("its pixels end early");
  bmp.row_bytes = static_cast<size_t>(row);
  return bmp;
}

bool decode_bmp_row(const Bmp& bmp, std::span<const std::byte> file, int64_t y, std::span<std::byte> rgba) {
  const auto line = static_cast<size_t>(bmp.from_top ? y : bmp.height - 1 - y);
  const std::span<const std::byte> row = file.subspan(bmp.pixels + line * bmp.row_bytes, bmp.row_bytes);
  const auto bits = static_cast<size_t>(bmp.bits);
  for (size_t x = 0; x < static_cast<size_t>(bmp.width); ++x) {
    std::byte* to = rgba.data() + 4 * x;
    if (bits > 8 && bits != 24) {
      const uint32_t pixel = *number(row, x * bits / 8, bits / 8);
      for (size_t c = 0; c < 4; ++c) to[c] = to_byte(pixel, bmp.masks[c]);
      continue;
    }
    const std::byte* blue = row.data() + x * 3;
    if (bits <= 8) {
      const uint32_t of_byte = std::to_integer<uint32_t>(row[x * bits / 8]) >> (8 - bits - x * bits % 8);
      const size_t colour = of_byte & ((1U << bits) - 1);
      if (colour >= bmp.colours) return false;
      blue = file.data() + bmp.palette + colour * bmp.colour_bytes;
    }
    to[0] = blue[2], to[1] = blue[1], to[2] = blue[0], to[3] = std::byte{255};
  }
  return true;
}

}  // namespace heddle::runtime::data
