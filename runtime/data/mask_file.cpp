#include "runtime/data/mask_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <png.h>

#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstring>
#include <vector>

#include "runtime/data/picture.h"
#include "runtime/files/file.h"

namespace heddle::runtime::data {
namespace {

constexpr int64_t kMostFileBytes = int64_t{1} << 28;
constexpr const char* kHelp = "a mask is a PNG of grey values or of a palette, of 8 bits at most";

// What libpng's callbacks share: they may not throw, so an error is a message and a jump.
struct Reading {
  const std::vector<std::byte>& content;
  size_t at = 0;
  std::jmp_buf jump;
  std::array<char, 200> message = {};
};

void note_error(png_structp png, png_const_charp message) {
  auto* reading = static_cast<Reading*>(png_get_error_ptr(png));
  std::strncpy(reading->message.data(), message, reading->message.size() - 1);
  std::longjmp(reading->jump, 1);
}
void ignore_warning(png_structp, png_const_charp) {}

void take_bytes(png_structp png, png_bytep to, size_t count) {
  auto* reading = static_cast<Reading*>(png_get_io_ptr(png));
  if (count > reading->content.size() - reading->at) png_error(png, "the file ends too early");
  std::memcpy(to, reading->content.data() + reading->at, count);
  reading->at += count;
}

struct Png {
  png_structp png = nullptr;
  png_infop info = nullptr;
  explicit Png(Reading& reading)
      : png(png_create_read_struct(PNG_LIBPNG_VER_STRING, &reading, note_error, ignore_warning)),
        info(png == nullptr ? nullptr : png_create_info_struct(png)) {}
  Png(const Png&) = delete;
  Png& operator=(const Png&) = delete;
  ~Png() { png_destroy_read_struct(&png, &info, nullptr); }
};

// Nothing in these two has a destructor: an error jumps over it.
bool read_header(Png& p, Reading& reading) {
  if (setjmp(reading.jump) != 0) return false;  // NOLINT(cert-err52-cpp): libpng's way
  png_set_read_fn(p.png, &reading, take_bytes);
  png_read_info(p.png, p.info);
  return true;
}
bool read_rows(Png& p, Reading& reading, png_bytep* rows) {
  if (setjmp(reading.jump) != 0) return false;  // NOLINT(cert-err52-cpp): as above
  png_set_packing(p.png);                       // values of fewer bits become bytes, unchanged
  png_set_interlace_handling(p.png);
  png_read_update_info(p.png, p.info);
  png_read_image(p.png, rows);
  png_read_end(p.png, nullptr);
  return true;
}

std::vector<std::byte> content_of(const std::filesystem::path& path, const std::string& name, const Location& where) {
  File in(path, O_RDONLY | O_NONBLOCK, 0, name);
  if (in.size() > kMostFileBytes)
    throw UserError(where, fmt::format("{}: {} bytes, at most {} are read", name, in.size(), kMostFileBytes));
  std::vector<std::byte> content(static_cast<size_t>(in.size()));
  in.read(content.data(), std::ssize(content));
  return content;
}

}  // namespace

void read_mask(const std::filesystem::path& file, const std::string& name, const Location& where, int64_t height,
               int64_t width, ResizeKind how, std::byte* to) {
  const auto fail = [&](const std::string& message, const std::string& help) {
    throw UserError(where, fmt::format("{}: {}", name, message), help);
  };
  const std::vector<std::byte> content = content_of(file, name, where);
  if (content.size() < 8 || std::memcmp(content.data(), "\x89PNG\r\n\x1a\n", 8) != 0) fail("no PNG picture", kHelp);
  Reading reading{.content = content, .jump = {}};
  Png png(reading);
  if (png.info == nullptr || !read_header(png, reading))
    fail(fmt::format("the mask is damaged ({})", reading.message.data()), "");
  const int colours = png_get_color_type(png.png, png.info), bits = png_get_bit_depth(png.png, png.info);
  if ((colours != PNG_COLOR_TYPE_GRAY && colours != PNG_COLOR_TYPE_PALETTE) || bits > 8)
    fail(bits > 8 ? fmt::format("a mask of {} bits", bits) : "a mask of colours", kHelp);
  const PictureSize stored{.height = png_get_image_height(png.png, png.info),
                           .width = png_get_image_width(png.png, png.info),
                           .channels = 1};
  const bool same = stored.height == height && stored.width == width;
  if (!same && how == ResizeKind::none)
    fail(fmt::format("a mask of {} x {}, the input takes {} x {}", stored.height, stored.width, height, width),
         "\"resize\" of the reader makes all of one size: \"fit\", \"cover\" or \"stretch\"");
  if (stored.height > kMostPixels / stored.width)
    fail(fmt::format("a mask of {} x {}, at most {} pixels are read", stored.height, stored.width, kMostPixels), "");
  std::vector<std::byte> pixels(static_cast<size_t>(stored.bytes()));
  std::vector<png_bytep> rows;
  for (int64_t y = 0; y < stored.height; ++y)
    rows.push_back(reinterpret_cast<png_bytep>(pixels.data() + y * stored.width));
  if (!read_rows(png, reading, rows.data())) fail(fmt::format("the mask is damaged ({})", reading.message.data()), "");
  if (same)
    std::ranges::copy(pixels, to);
  else
    resize_nearest(pixels.data(), stored, how, {.height = height, .width = width, .channels = 1}, to);
}

}  // namespace heddle::runtime::data
