#include "runtime/data/picture.h"

#include <fmt/format.h>
#include <png.h>

#include <csetjmp>
#include <cstdio>
// jpeglib.h needs FILE.
#include <fcntl.h>
#include <jpeglib.h>

#include <array>
#include <cstring>
#include <vector>

#include "runtime/files/file.h"

namespace heddle::runtime::data {
namespace {

constexpr int kInks = 4;
constexpr int64_t kMostFileBytes = int64_t{1} << 28;

struct Picture {
  const std::string& name;
  const Location& where;
  PictureSize size;

  [[noreturn]] void fail(const std::string& message, const std::string& help = {}) const {
    throw UserError(where, fmt::format("{}: {}", name, message), help);
  }
  void require_size(int64_t height, int64_t width) const {
    if (height != size.height || width != size.width)
      fail(fmt::format("a picture of {} x {}, the input takes {} x {}", height, width, size.height, size.width),
           "all pictures have one size: scale them before, with ImageMagick's mogrify -resize for example");
  }
};

// ITU-R BT.601's luminance in 16 bits, as libjpeg computes it where it makes coloured pictures.
uint32_t luminance(uint32_t red, uint32_t green, uint32_t blue) {
  return (19595 * red + 38470 * green + 7471 * blue + 32768) >> 16;
}

// Red, green, blue and opacity, as they are stored, drawn on black. libpng would do it, and make
// grey, in linear light: other values than those of a JPEG of the same picture, and of the
// libraries that networks are fed by elsewhere.
void draw_on_black(const std::vector<std::byte>& rgba, int64_t channels, std::byte* to) {
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

// libpng's simplified interface, which keeps all that jumps inside.
void read_png(const Picture& p, const std::vector<std::byte>& content, std::byte* to) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  if (png_image_begin_read_from_memory(&image, content.data(), content.size()) == 0)
    p.fail(fmt::format("not a PNG picture that can be read ({})", image.message));
  const auto end = [&] { png_image_free(&image); };
  if (image.height != p.size.height || image.width != p.size.width) {
    const int64_t height = image.height, width = image.width;
    end();
    p.require_size(height, width);
  }
  // Else values of 16 bits would be taken for linear ones, and become brighter.
  image.flags |= PNG_IMAGE_FLAG_16BIT_sRGB;
  const bool grey = p.size.channels == 1;
  const bool as_stored =
      (image.format & PNG_FORMAT_FLAG_ALPHA) == 0 && !(grey && (image.format & PNG_FORMAT_FLAG_COLOR) != 0);
  std::vector<std::byte> rgba(as_stored ? 0 : static_cast<size_t>(p.size.height * p.size.width) * 4);
  image.format = !as_stored ? PNG_FORMAT_RGBA : grey ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
  const bool read = png_image_finish_read(&image, nullptr, as_stored ? to : rgba.data(), 0, nullptr) != 0 &&
                    (image.warning_or_error & PNG_IMAGE_ERROR) == 0;
  const std::string message = image.message;
  end();
  if (!read) p.fail(fmt::format("the picture is damaged ({})", message));
  if (!as_stored) draw_on_black(rgba, p.size.channels, to);
}

// libjpeg tells errors by a function that may not return.
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

// Warnings are damage, too: a file that is cut off would end in grey.
void note_message(j_common_ptr info, int level) {
  if (level < 0) note_error(info);
}

struct JpegResult {
  bool read = false;
  int64_t height = 0, width = 0;  // once the header has been read
  bool inks = false;              // CMYK, which no one formula makes RGB of
};

// Nothing here has a destructor: an error jumps over it.
JpegResult decode_jpeg(const std::byte* content, size_t bytes, PictureSize size, JpegErrors& errors, std::byte* to) {
  jpeg_decompress_struct info{};
  volatile int64_t height = 0, width = 0;
  info.err = jpeg_std_error(&errors.manager);
  errors.manager.error_exit = note_error;
  errors.manager.emit_message = note_message;
  if (setjmp(errors.jump) != 0) {  // NOLINT(cert-err52-cpp): libjpeg's way
    jpeg_destroy_decompress(&info);
    return {.read = false, .height = height, .width = width};
  }
  jpeg_create_decompress(&info);
  jpeg_mem_src(&info, reinterpret_cast<const unsigned char*>(content), bytes);
  jpeg_read_header(&info, TRUE);
  height = info.image_height;
  width = info.image_width;
  if (info.num_components == kInks) {
    jpeg_destroy_decompress(&info);
    return {.read = true, .height = height, .width = width, .inks = true};
  }
  if (height == size.height && width == size.width) {
    info.out_color_space = size.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    info.dct_method = JDCT_ISLOW;
    jpeg_start_decompress(&info);
    while (info.output_scanline < info.output_height) {
      auto* row = reinterpret_cast<JSAMPROW>(to + info.output_scanline * size.width * size.channels);
      jpeg_read_scanlines(&info, &row, 1);
    }
    jpeg_finish_decompress(&info);
  }
  jpeg_destroy_decompress(&info);
  return {.read = true, .height = height, .width = width};
}

void read_jpeg(const Picture& p, const std::vector<std::byte>& content, std::byte* to) {
  JpegErrors errors{};
  const JpegResult result = decode_jpeg(content.data(), content.size(), p.size, errors, to);
  if (!result.read) p.fail(fmt::format("the picture is damaged ({})", errors.message.data()));
  if (result.inks)
    p.fail("a JPEG of the four inks of printers (CMYK)", "convert it to RGB: ImageMagick's mogrify -colorspace sRGB");
  p.require_size(result.height, result.width);
}

bool begins(const std::vector<std::byte>& content, std::string_view with) {
  return content.size() >= with.size() && std::memcmp(content.data(), with.data(), with.size()) == 0;
}

}  // namespace

void read_picture(const std::filesystem::path& file, const std::string& name, const Location& where, PictureSize size,
                  std::byte* to) {
  const Picture picture{name, where, size};
  File in(file, O_RDONLY | O_NONBLOCK, 0, name);
  if (in.size() > kMostFileBytes) picture.fail(fmt::format("{} bytes, at most {} are read", in.size(), kMostFileBytes));
  std::vector<std::byte> content(static_cast<size_t>(in.size()));
  in.read(content.data(), std::ssize(content));
  if (begins(content, "\x89PNG\r\n\x1a\n")) return read_png(picture, content, to);
  if (begins(content, "\xff\xd8\xff")) return read_jpeg(picture, content, to);
  picture.fail("neither a PNG nor a JPEG picture");
}

}  // namespace heddle::runtime::data
