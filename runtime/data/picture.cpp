#include "runtime/data/picture.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <png.h>

#include <csetjmp>
#include <cstdio>
// jpeglib.h needs FILE.
#include <fcntl.h>
#include <jpeglib.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <span>
#include <vector>

#include "runtime/data/picture_bmp.h"
#include "runtime/data/picture_gif.h"
#include "runtime/data/picture_tiff.h"
#include "runtime/data/picture_turn.h"
#include "runtime/data/picture_webp.h"
#include "runtime/data/stored_picture.h"
#include "runtime/files/file.h"

namespace heddle::runtime::data {
namespace {

constexpr int kInks = 4;
constexpr const char* kConvertHelp = "ImageMagick's mogrify -format png converts it";
constexpr int64_t kMostFileBytes = int64_t{1} << 28;

struct Picture {
  const std::string& name;
  const Location& where;
  PictureSize size;
  Resizing resizing;

  [[noreturn]] void fail(const std::string& message, const std::string& help = {}) const {
    throw UserError(where, fmt::format("{}: {}", name, message), help);
  }
  [[noreturn]] void fail_by_size(PictureSize shown) const {
    fail(fmt::format("a picture of {} x {}, the input takes {} x {}", shown.height, shown.width, size.height,
                     size.width),
         "\"resize\" of an image_folder makes all pictures of one size: \"fit\", \"cover\" or \"stretch\"");
  }
};

// Decodes directly into the row if size and orientation fit the input; else decodes into other memory, then turns and
// resizes.
void make_row(const Picture& p, PictureSize stored, int orientation, const std::function<void(std::byte*)>& decode,
              std::byte* to) {
  const PictureSize shown = turned_size(stored, orientation);
  const bool same = shown.height == p.size.height && shown.width == p.size.width;
  if (!same && p.resizing.how == ResizeKind::none) p.fail_by_size(shown);
  if (same && orientation == 1) return decode(to);
  if (!same && shown.height > kMostPixels / shown.width)
    p.fail(fmt::format("a picture of {} x {}, at most {} pixels are resized", shown.height, shown.width, kMostPixels),
           "make it smaller before, with ImageMagick's mogrify -resize for example");
  std::vector<std::byte> pixels(static_cast<size_t>(stored.bytes()));
  decode(pixels.data());
  if (orientation != 1) {
    std::vector<std::byte> turned(pixels.size());
    turn_picture(pixels.data(), stored, orientation, turned.data());
    pixels.swap(turned);
  }
  if (same)
    std::ranges::copy(pixels, to);
  else
    resize_picture(pixels.data(), shown, p.resizing, p.size, to);
}

// ITU-R BT.601's luminance in 16 bits, as libjpeg computes it where it makes coloured pictures.
uint32_t luminance(uint32_t red, uint32_t green, uint32_t blue) {
  return (19595 * red + 38470 * green + 7471 * blue + 32768) >> 16;
}

// Draws stored red, green, blue and opacity on black. libpng would blend and make grey in linear light, which gives
// other values than a JPEG of the same picture, and than the libraries of other frameworks.
void draw_on_black(std::span<const std::byte> rgba, int64_t channels, std::byte* to) {
  for (size_t at = 0; at < rgba.size(); at += 4) {
    const auto shown = [&](size_t c) {
      return (std::to_integer<uint32_t>(rgba[at + c]) * std::to_integer<uint32_t>(rgba[at + 3]) + 127) / 255;
    };
    if (channels == 1) {
      *to++ = static_cast<std::byte>(luminance(shown(0), shown(1), shown(2)));
    } else {
      for (size_t c = 0; c < 3; ++c) *to++ = static_cast<std::byte>(shown(c));
    }
  }
}

// Uses libpng's simplified interface, in which no longjmp leaves the library.
struct PngImage {
  png_image image{};
  PngImage() { image.version = PNG_IMAGE_VERSION; }
  PngImage(const PngImage&) = delete;
  PngImage& operator=(const PngImage&) = delete;
  ~PngImage() { png_image_free(&image); }
};

void decode_png(const Picture& p, png_image& image, std::byte* to) {
  // Else values of 16 bits would be taken for linear ones, and become brighter.
  image.flags |= PNG_IMAGE_FLAG_16BIT_sRGB;
  const bool grey = p.size.channels == 1;
  const bool as_stored =
      (image.format & PNG_FORMAT_FLAG_ALPHA) == 0 && !(grey && (image.format & PNG_FORMAT_FLAG_COLOR) != 0);
  std::vector<std::byte> rgba(as_stored ? 0 : size_t{image.height} * image.width * 4);
  image.format = !as_stored ? PNG_FORMAT_RGBA : grey ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
  const bool read = png_image_finish_read(&image, nullptr, as_stored ? to : rgba.data(), 0, nullptr) != 0 &&
                    (image.warning_or_error & PNG_IMAGE_ERROR) == 0;
  if (!read) p.fail(fmt::format("the picture is damaged ({})", image.message));
  if (!as_stored) draw_on_black(rgba, p.size.channels, to);
}

// Removes the chunks about colour spaces (gamma, white point, profiles), because libpng would change values by them.
std::vector<std::byte> without_colour_spaces(const std::vector<std::byte>& content) {
  constexpr size_t kSignature = 8, kAround = 12;  // of a chunk: its length, its name, its sum
  constexpr std::array<std::string_view, 5> kLeftOut = {"gAMA", "cHRM", "sRGB", "iCCP", "cICP"};
  std::vector<std::byte> kept(content.begin(), content.begin() + kSignature);
  size_t at = kSignature;
  while (content.size() - at >= kAround) {
    size_t length = 0;
    for (size_t i = 0; i < 4; ++i) length = length << 8 | std::to_integer<size_t>(content[at + i]);
    const std::string_view name(reinterpret_cast<const char*>(content.data()) + at + 4, 4);
    if (name == "IDAT" || length > content.size() - at - kAround) break;
    const auto chunk = content.begin() + static_cast<std::ptrdiff_t>(at);
    if (std::ranges::count(kLeftOut, name) == 0)
      kept.insert(kept.end(), chunk, chunk + static_cast<std::ptrdiff_t>(length + kAround));
    at += length + kAround;
  }
  kept.insert(kept.end(), content.begin() + static_cast<std::ptrdiff_t>(at), content.end());
  return kept;
}

void read_png(const Picture& p, const std::vector<std::byte>& file, std::byte* to) {
  const std::vector<std::byte> content = without_colour_spaces(file);
  PngImage png;
  if (png_image_begin_read_from_memory(&png.image, content.data(), content.size()) == 0)
    p.fail(fmt::format("not a PNG picture that can be read ({})", png.image.message));
  const PictureSize stored{.height = png.image.height, .width = png.image.width, .channels = p.size.channels};
  make_row(
      p, stored, 1, [&](std::byte* rows) { decode_png(p, png.image, rows); }, to);
}

// libjpeg reports errors by a function that must not return.
struct JpegErrors {
  jpeg_error_mgr manager;  // first: libjpeg knows no more
  std::jmp_buf jump;
  std::array<char, JMSG_LENGTH_MAX> message;
};

void note_error(j_common_ptr info) {
  auto* errors = reinterpret_cast<JpegErrors*>(info->err);
  errors->manager.format_message(info, errors->message.data());
  std::longjmp(errors->jump, 1);
}

// A warning counts as damage: a truncated file would end in grey.
void note_message(j_common_ptr info, int level) {
  if (level < 0) note_error(info);
}

// A JPEG under way: its header is read once, and its rows behind it.
struct Jpeg {
  jpeg_decompress_struct info{};
  JpegErrors errors{};
  Jpeg() {
    info.err = jpeg_std_error(&errors.manager);
    errors.manager.error_exit = note_error;
    errors.manager.emit_message = note_message;
  }
  Jpeg(const Jpeg&) = delete;
  Jpeg& operator=(const Jpeg&) = delete;
  ~Jpeg() { jpeg_destroy_decompress(&info); }  // also where it has not been created: it then does nothing
};

// These two functions have no objects with destructors, because an error jumps over them. They return false at an
// error; errors.message says why.
bool read_header(Jpeg& jpeg, const std::vector<std::byte>& content) {
  if (setjmp(jpeg.errors.jump) != 0) return false;  // NOLINT(cert-err52-cpp): libjpeg's way
  jpeg_create_decompress(&jpeg.info);
  jpeg_mem_src(&jpeg.info, reinterpret_cast<const unsigned char*>(content.data()), content.size());
  jpeg_save_markers(&jpeg.info, JPEG_APP0 + 1, 0xffff);
  jpeg_read_header(&jpeg.info, TRUE);
  return true;
}
bool read_rows(Jpeg& jpeg, int64_t channels, std::byte* to) {
  if (setjmp(jpeg.errors.jump) != 0) return false;  // NOLINT(cert-err52-cpp): as above
  jpeg_decompress_struct& info = jpeg.info;
  info.out_color_space = channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  info.dct_method = JDCT_ISLOW;
  jpeg_start_decompress(&info);
  while (info.output_scanline < info.output_height) {
    auto* row = reinterpret_cast<JSAMPROW>(to + int64_t{info.output_scanline} * info.image_width * channels);
    jpeg_read_scanlines(&info, &row, 1);
  }
  jpeg_finish_decompress(&info);
  return true;
}

int orientation_of(const jpeg_decompress_struct& info) {
  for (const jpeg_marker_struct* m = info.marker_list; m != nullptr; m = m->next)
    if (const int found = exif_orientation({m->data, m->data_length}); found != 1) return found;
  return 1;
}

void read_jpeg(const Picture& p, const std::vector<std::byte>& content, std::byte* to) {
  Jpeg jpeg;
  const auto require = [&](bool read) {
    if (!read) p.fail(fmt::format("the picture is damaged ({})", jpeg.errors.message.data()));
  };
  require(read_header(jpeg, content));
  if (jpeg.info.num_components == kInks)  // which no one formula makes RGB of
    p.fail("a JPEG of the four inks of printers (CMYK)", kInksHelp);
  const PictureSize stored{
      .height = jpeg.info.image_height, .width = jpeg.info.image_width, .channels = p.size.channels};
  make_row(
      p, stored, orientation_of(jpeg.info), [&](std::byte* rows) { require(read_rows(jpeg, p.size.channels, rows)); },
      to);
}

void read_bmp_picture(const Picture& p, const std::vector<std::byte>& content, std::byte* to) {
  const Bmp bmp = read_bmp(content);
  if (!bmp.fault.empty()) p.fail(fmt::format("not a BMP picture that can be read ({})", bmp.fault), kConvertHelp);
  const PictureSize stored{.height = bmp.height, .width = bmp.width, .channels = p.size.channels};
  const auto decode = [&](std::byte* rows) {
    std::vector<std::byte> rgba(static_cast<size_t>(bmp.width) * 4);
    for (int64_t y = 0; y < bmp.height; ++y) {
      if (!decode_bmp_row(bmp, content, y, rgba))
        p.fail("the picture is damaged (a pixel is none of the palette's colours)");
      draw_on_black(rgba, p.size.channels, rows + y * bmp.width * p.size.channels);
    }
  };
  make_row(p, stored, 1, decode, to);
}

// Of the other formats, each by a class of its own.
template <class Format>
void read_stored(const Picture& p, const std::vector<std::byte>& content, const char* format, std::byte* to) {
  Format picture(content);
  const StoredPicture& stored = picture.stored;
  if (!stored.fault.empty())
    p.fail(fmt::format("not a {} picture that can be read ({})", format, stored.fault),
           stored.help.empty() ? kConvertHelp : stored.help);
  const PictureSize size{.height = stored.height, .width = stored.width, .channels = p.size.channels};
  const auto decode = [&](std::byte* rows) {
    const std::string damage = picture.decode([&](int64_t y, std::span<const std::byte> rgba) {
      draw_on_black(rgba, size.channels, rows + y * size.width * size.channels);
    });
    if (!damage.empty()) p.fail(fmt::format("the picture is damaged ({})", damage));
  };
  make_row(p, size, stored.orientation, decode, to);
}

bool begins(const std::vector<std::byte>& content, std::string_view with) {
  return content.size() >= with.size() && std::memcmp(content.data(), with.data(), with.size()) == 0;
}

bool has(const std::vector<std::byte>& content, size_t at, std::string_view what) {
  return content.size() >= at + what.size() && std::memcmp(content.data() + at, what.data(), what.size()) == 0;
}

// Of 32 or 64 bits, in either order.
bool begins_tiff(const std::vector<std::byte>& content) {
  return begins(content, {"II*\0", 4}) || begins(content, {"MM\0*", 4}) || begins(content, {"II+\0", 4}) ||
         begins(content, {"MM\0+", 4});
}

// What is well known and not read; empty for all else.
std::string_view other_format(const std::vector<std::byte>& content) {
  if (has(content, 4, "ftypavif")) return "AVIF";
  if (has(content, 4, "ftyphei") || has(content, 4, "ftypmif1")) return "HEIF";
  if (begins(content, {"\0\0\0\x0cjP  ", 8}) || begins(content, "\xff\x4f\xff\x51")) return "JPEG 2000";
  if (begins(content, "P5") || begins(content, "P6")) return "PNM";
  return {};
}

}  // namespace

const std::vector<std::string>& picture_endings() {
  static const std::vector<std::string> endings = {".png", ".jpg", ".jpeg", ".bmp", ".webp", ".tif", ".tiff", ".gif"};
  return endings;
}

std::string told_picture_endings() {
  const std::vector<std::string>& all = picture_endings();
  return fmt::format("files end in {} or {}", fmt::join(all.begin(), all.end() - 1, ", "), all.back());
}

bool named_picture(const std::filesystem::path& path) {
  std::string end = path.extension().string();
  std::ranges::transform(end, end.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return std::ranges::count(picture_endings(), end) > 0;
}

void read_picture(const std::filesystem::path& file, const std::string& name, const Location& where, PictureSize size,
                  std::byte* to, Resizing resizing) {
  const Picture picture{name, where, size, resizing};
  File in(file, O_RDONLY | O_NONBLOCK, 0, name);
  if (in.size() > kMostFileBytes) picture.fail(fmt::format("{} bytes, at most {} are read", in.size(), kMostFileBytes));
  std::vector<std::byte> content(static_cast<size_t>(in.size()));
  in.read(content.data(), std::ssize(content));
  if (begins(content, "\x89PNG\r\n\x1a\n")) return read_png(picture, content, to);
  if (begins(content, "\xff\xd8\xff")) return read_jpeg(picture, content, to);
  if (begins(content, "BM")) return read_bmp_picture(picture, content, to);
  if (begins(content, "RIFF") && has(content, 8, "WEBP")) return read_stored<WebpPicture>(picture, content, "WebP", to);
  if (begins_tiff(content)) return read_stored<TiffPicture>(picture, content, "TIFF", to);
  if (begins(content, "GIF8")) return read_stored<GifPicture>(picture, content, "GIF", to);
  const std::string_view other = other_format(content);
  if (other.empty()) picture.fail("none of a PNG, JPEG, BMP, WebP, TIFF and GIF picture");
  picture.fail(fmt::format("a {} picture, which is not read", other), kConvertHelp);
}

}  // namespace heddle::runtime::data
