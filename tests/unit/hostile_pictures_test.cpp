// Pictures that nobody should open without care. Each ends in a message that names the file, or in the values that it
// stores, also where it is resized. The pictures are made here, byte by byte.
#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>
// jpeglib.h needs FILE.
#include <jpeglib.h>

#include "runtime/data/picture.h"

namespace heddle::runtime::data {
namespace {

namespace fs = std::filesystem;

constexpr int kSide = 8;
constexpr PictureSize kColour{.height = kSide, .width = kSide, .channels = 3},
    kGrey{.height = kSide, .width = kSide, .channels = 1};

int value(int y, int x, int c) { return (y * 31 + x * 17 + c * 71) % 256; }

// --- PNG (RFC 2083) ---

std::string big(uint32_t v) {
  return {static_cast<char>(v >> 24), static_cast<char>(v >> 16), static_cast<char>(v >> 8), static_cast<char>(v)};
}
const unsigned char* bytes_of(const std::string& s) { return reinterpret_cast<const unsigned char*>(s.data()); }

std::string chunk(const std::string& kind, const std::string& content) {
  const std::string checked = kind + content;
  return big(static_cast<uint32_t>(content.size())) + checked +
         big(static_cast<uint32_t>(crc32(0, bytes_of(checked), static_cast<uInt>(checked.size()))));
}
std::string deflated(const std::string& s) {
  uLongf size = compressBound(s.size());
  std::string out(size, '\0');
  compress(reinterpret_cast<Bytef*>(out.data()), &size, bytes_of(s), s.size());
  out.resize(size);
  return out;
}

struct Png {
  uint32_t width = kSide, height = kSide;
  char depth = 8, color = 2, interlace = 0, compression = 0, filter = 0;
  std::string before = {};  // chunks before the pixels
  std::string lines = {};   // with the filter of each; those of the picture where there are none
  std::string text() const {
    const std::string head = big(width) + big(height) + std::string{depth, color, compression, filter, interlace};
    return "\x89PNG\r\n\x1a\n" + chunk("IHDR", head) + before + chunk("IDAT", deflated(lines.empty() ? rgb() : lines)) +
           chunk("IEND", "");
  }
  static std::string rgb() {
    std::string all;
    for (int y = 0; y < kSide; ++y) {
      all += '\0';
      for (int i = 0; i < kSide * 3; ++i) all += static_cast<char>(value(y, i / 3, i % 3));
    }
    return all;
  }
};

// Of rows of `bits` for each pixel, of the grey values 0 to 15.
std::string packed(int bits) {
  std::string all;
  for (int y = 0; y < kSide; ++y) {
    all += '\0';
    int byte = 0;
    for (int x = 0; x < kSide; ++x) {
      byte = byte << bits | ((y + x) & ((1 << bits) - 1));
      if ((x + 1) * bits % 8 == 0) all += static_cast<char>(byte), byte = 0;
    }
  }
  return all;
}
std::string palette(int colours) {
  std::string all;
  for (int i = 0; i < colours; ++i) all += {static_cast<char>(i), static_cast<char>(2 * i), static_cast<char>(3 * i)};
  return all;
}
// The seven passes of Adam7.
std::string interlaced() {
  constexpr int kFirst[7][2] = {{0, 0}, {0, 4}, {4, 0}, {0, 2}, {2, 0}, {0, 1}, {1, 0}},
                kApart[7][2] = {{8, 8}, {8, 8}, {8, 4}, {4, 4}, {4, 2}, {2, 2}, {2, 1}};
  std::string all;
  for (int pass = 0; pass < 7; ++pass)
    for (int y = kFirst[pass][0]; y < kSide; y += kApart[pass][0]) {
      all += '\0';
      for (int x = kFirst[pass][1]; x < kSide; x += kApart[pass][1])
        for (int c = 0; c < 3; ++c) all += static_cast<char>(value(y, x, c));
    }
  return all;
}

// --- BMP ---

std::string little(uint32_t v, int width = 4) {
  std::string s;
  for (int i = 0; i < width; ++i) s += static_cast<char>(v >> 8 * i);
  return s;
}
struct Bitmap {
  int32_t width = kSide, height = kSide;
  int bits = 24;
  uint32_t compression = 0, header = 40, used = 0;
  std::string behind = {};  // the header: masks and the palette
  std::string rows = {};    // those of the picture, from the bottom, where there are none
  int64_t cut = 0;          // bytes that are missing
  std::string text() const {
    const std::string pixels = rows.empty() ? bgr() : rows;
    std::string head =
        header == 12 ? little(12) + little(static_cast<uint32_t>(width), 2) + little(static_cast<uint32_t>(height), 2) +
                           little(1, 2) + little(static_cast<uint32_t>(bits), 2)
                     : little(header) + little(static_cast<uint32_t>(width)) + little(static_cast<uint32_t>(height)) +
                           little(1, 2) + little(static_cast<uint32_t>(bits), 2) + little(compression) + little(0) +
                           little(0) + little(0) + little(used) + little(0);
    head += behind;
    const auto at = static_cast<uint32_t>(14 + head.size());
    std::string all = "BM" + little(at + static_cast<uint32_t>(pixels.size())) + little(0) + little(at) + head + pixels;
    all.resize(all.size() - static_cast<size_t>(cut));
    return all;
  }
  static std::string bgr() { return of(kSide - 1, -1, 3); }
  // Row after row, with `bytes` for each pixel.
  static std::string of(int first, int step, int bytes) {
    std::string all;
    for (int i = 0, y = first; i < kSide; ++i, y += step)
      for (int x = 0; x < kSide; ++x) {
        for (int c = 2; c >= 0; --c) all += static_cast<char>(value(y, x, c));
        if (bytes == 4) all += '\x80';
      }
    return all;
  }
};

// --- JPEG ---

std::string jpeg(int channels, bool progressive = false) {
  jpeg_compress_struct info{};
  jpeg_error_mgr errors{};
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;  // NOLINT(google-runtime-int): libjpeg's type
  jpeg_mem_dest(&info, &bytes, &size);
  info.image_height = info.image_width = kSide, info.input_components = channels;
  info.in_color_space = channels == 1 ? JCS_GRAYSCALE : channels == 3 ? JCS_RGB : JCS_CMYK;
  jpeg_set_defaults(&info);
  if (progressive) jpeg_simple_progression(&info);
  jpeg_set_quality(&info, 100, TRUE);
  info.comp_info[0].h_samp_factor = info.comp_info[0].v_samp_factor = 1;
  jpeg_start_compress(&info, TRUE);
  for (int y = 0; y < kSide; ++y) {
    std::vector<unsigned char> line(static_cast<size_t>(kSide * channels), static_cast<unsigned char>(y * 20));
    JSAMPROW row = line.data();
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  jpeg_destroy_compress(&info);
  std::string out(reinterpret_cast<char*>(bytes), size);
  std::free(bytes);  // NOLINT: libjpeg allocates so
  return out;
}
std::string with(std::string s, size_t at, const std::string& bytes) { return s.replace(at, bytes.size(), bytes); }
size_t frame_of(const std::string& s) { return s.find("\xff\xc0") + 4; }  // precision, height, width, components

// --- the test ---

class HostilePictures : public testing::Test {
 protected:
  HostilePictures() : file_(fs::temp_directory_path() / ("heddle-hostile-" + std::to_string(::getpid()))) {}
  ~HostilePictures() override { fs::remove(file_); }
  std::vector<std::byte> read(const std::string& content, PictureSize size, Resizing resizing = {}) {
    std::ofstream(file_, std::ios::binary).write(content.data(), static_cast<std::streamsize>(content.size()));
    std::vector<std::byte> out(static_cast<size_t>(size.bytes()));
    read_picture(file_, "a/p.png", {}, size, out.data(), resizing);
    return out;
  }
  // The message behind the file's name; "read" where there is none.
  std::string message(const std::string& content, PictureSize size = kColour, Resizing resizing = {}) {
    try {
      read(content, size, resizing);
    } catch (const UserError& error) {
      const std::string text = error.diagnostics().at(0).message;
      EXPECT_TRUE(text.starts_with("a/p.png: ")) << text;
      return text.substr(std::min<size_t>(text.size(), 9));
    }
    return "read";
  }
  void expect(const std::string& content, const std::function<int(int, int, int)>& wanted, PictureSize size = kColour,
              int within = 0) {
    ASSERT_EQ(message(content, size), "read");
    const std::vector<std::byte> got = read(content, size);
    size_t i = 0;
    for (int y = 0; y < kSide; ++y)
      for (int x = 0; x < kSide; ++x)
        for (int c = 0; c < static_cast<int>(size.channels); ++c, ++i)
          ASSERT_NEAR(std::to_integer<int>(got[i]), wanted(y, x, c), within) << y << " " << x << " " << c;
  }

  fs::path file_;
};

struct Refused {
  const char* what;
  std::string content, message;  // the message's beginning
};

const char* const kNoPng = "not a PNG picture that can be read (";
const char* const kNoBmp = "not a BMP picture that can be read (";
const char* const kDamaged = "the picture is damaged (";

std::vector<Refused> refused() {
  const std::string png = Png{}.text(), bmp = Bitmap{}.text(), photo = jpeg(3);
  const size_t frame = frame_of(photo);
  std::string bad_sum = png;
  bad_sum[bad_sum.find("IDAT") + 10] ^= 0x55;
  return {
      {"nothing", "", "none of a PNG, JPEG, BMP, WebP, TIFF and GIF picture"},
      {"a text", "no picture", "none of a PNG, JPEG, BMP, WebP, TIFF and GIF picture"},
      {"a GIF", "GIF89a" + std::string(30, '\1'), "not a GIF picture that can be read ("},
      {"a WebP", "RIFF" + little(20) + "WEBPVP8 ", "not a WebP picture that can be read ("},
      {"a TIFF", std::string("II*\0", 4) + little(8), "not a TIFF picture that can be read ("},
      {"a HEIC", big(24) + "ftypheic", "a HEIF picture, which is not read"},
      {"the signature alone", png.substr(0, 8), kNoPng},
      {"half a header", png.substr(0, 20), kNoPng},
      {"half the pixels", png.substr(0, png.size() / 2), kDamaged},
      {"a wrong sum", bad_sum, kDamaged},
      {"no pixels", png.substr(0, png.find("IDAT") - 4) + chunk("IEND", ""), kNoPng},
      {"fewer lines than there are", Png{.lines = Png::rgb().substr(0, 60)}.text(), kDamaged},
      {"a width of 0", Png{.width = 0}.text(), kNoPng},
      {"a height of 0", Png{.height = 0}.text(), kNoPng},
      {"sides of 2^31 - 1", Png{.width = 0x7fffffff, .height = 0x7fffffff}.text(), kNoPng},
      {"sides of 50000", Png{.width = 50000, .height = 50000}.text(),
       "a picture of 50000 x 50000, the input takes 8 x 8"},
      {"5 bits", Png{.depth = 5}.text(), kNoPng},
      {"a colour type 5", Png{.color = 5}.text(), kNoPng},
      {"another compression", Png{.compression = 1}.text(), kNoPng},
      {"an interlacing 2", Png{.interlace = 2}.text(), kNoPng},
      {"a filter 9", Png{.lines = with(Png::rgb(), 0, "\x09")}.text(), kDamaged},
      {"no palette", Png{.color = 3, .lines = packed(8)}.text(), kNoPng},
      {"a chunk of 2^31", png.substr(0, 33) + big(0x80000000) + "tEXt", kNoPng},
      {"the beginning of a JPEG", photo.substr(0, 3), kDamaged},
      {"half a JPEG", photo.substr(0, photo.size() / 2), kDamaged},
      {"a JPEG without its end", photo.substr(0, photo.size() - 2), kDamaged},
      {"a JPEG of no height", with(photo, frame + 1, std::string(2, '\0')), kDamaged},
      {"a JPEG of no width", with(photo, frame + 3, std::string(2, '\0')), kDamaged},
      {"a JPEG of 12 bits", with(photo, frame, "\x0c"), kDamaged},
      {"a JPEG of 65535 x 65535", with(photo, frame + 1, "\xff\xff\xff\xff"), kDamaged},
      {"a JPEG of inks", jpeg(4), "a JPEG of the four inks of printers (CMYK)"},
      {"the letters BM", "BM", kNoBmp},
      {"half a BMP header", bmp.substr(0, 30), kNoBmp},
      {"a BMP that ends early", Bitmap{.cut = 1}.text(), "not a BMP picture that can be read (its pixels end early)"},
      {"a BMP of no width", Bitmap{.width = 0}.text(), kNoBmp},
      {"a BMP of no height", Bitmap{.height = 0}.text(), kNoBmp},
      {"a BMP of width -8", Bitmap{.width = -8}.text(), kNoBmp},
      {"a BMP of the lowest height", Bitmap{.height = INT32_MIN}.text(), kNoBmp},
      {"a BMP of the largest sides", Bitmap{.width = INT32_MAX, .height = INT32_MAX, .bits = 32}.text(), kNoBmp},
      {"a BMP of 7 bits", Bitmap{.bits = 7}.text(), kNoBmp},
      {"a BMP by run lengths", Bitmap{.bits = 8, .compression = 1, .behind = std::string(1024, '\0')}.text(),
       "not a BMP picture that can be read (its pixels are compressed, in way 1)"},
      {"a BMP with a JPEG in it", Bitmap{.compression = 4}.text(), kNoBmp},
      {"a BMP with a header of 5 bytes", Bitmap{.header = 5}.text(), kNoBmp},
      {"a BMP with a header of 2^31", Bitmap{.header = 0x80000000}.text(), kNoBmp},
      {"a BMP of 300 colours of 8 bits", Bitmap{.bits = 8, .used = 300, .behind = std::string(1200, '\0')}.text(),
       kNoBmp},
      {"a BMP without the palette", Bitmap{.bits = 8, .used = 256, .rows = std::string(64, '\0')}.text(), kNoBmp},
      {"a BMP with a colour that is none",
       Bitmap{.bits = 8, .used = 2, .behind = std::string(8, '\0'), .rows = std::string(64, '\2')}.text(), kDamaged},
      {"a BMP with masks that have gaps",
       Bitmap{.bits = 32,
              .compression = 3,
              .behind = little(5) + little(0xff00) + little(0xff),
              .rows = std::string(256, '\0')}
           .text(),
       kNoBmp},
      {"a BMP whose pixels begin in its header", with(bmp, 10, little(3)), kNoBmp},
      {"a BMP whose pixels begin behind it", with(bmp, 10, little(0xffffffff)), kNoBmp},
  };
}

TEST_F(HostilePictures, EndInAMessageAtTheFile) {
  const Resizing cover{.how = ResizeKind::cover};
  for (const Refused& r : refused()) {
    EXPECT_TRUE(message(r.content).starts_with(r.message)) << r.what << ": " << message(r.content);
    EXPECT_NE(message(r.content, kGrey), "read") << r.what;
    EXPECT_NE(message(r.content, {.height = 3, .width = 20, .channels = 3}, cover), "read") << r.what;
  }
  EXPECT_GE(refused().size(), 30U);
  // More pixels than are resized are not decoded, whatever the file holds.
  EXPECT_TRUE(message(Png{.width = 50000, .height = 50000}.text(), kColour, cover)
                  .starts_with("a picture of 50000 x 50000, at most 67108864 pixels are resized"));
}

TEST_F(HostilePictures, OddOnesAreRight) {
  const auto plain = [](int y, int x, int c) { return value(y, x, c); };
  expect(Png{}.text(), plain);
  expect(Png{.interlace = 1, .lines = interlaced()}.text(), plain);
  expect(Png{.before = chunk("gAMA", big(22222)) + chunk("tEXt", std::string(100000, 'x'))}.text(), plain);
  expect(
      Png{.before = chunk("iCCP", "profile" + std::string(2, '\0') + deflated(std::string(10'000'000, '\0')))}.text(),
      plain);
  expect(Png{}.text() + "more behind the end", plain);
  std::string deep, alpha, grey_alpha;
  for (int y = 0; y < kSide; ++y) {
    deep += '\0', alpha += '\0', grey_alpha += '\0';
    for (int x = 0; x < kSide; ++x) {
      for (int c = 0; c < 3; ++c) {
        deep += std::string(2, static_cast<char>(value(y, x, c)));
        alpha += static_cast<char>(value(y, x, c));
      }
      alpha += static_cast<char>(x % 2 == 0 ? 255 : 0);
      grey_alpha += {static_cast<char>(value(y, x, 0)), static_cast<char>(x % 2 == 0 ? 255 : 0)};
    }
  }
  expect(Png{.depth = 16, .lines = deep}.text(), plain);
  expect(Png{.color = 6, .lines = alpha}.text(), [](int y, int x, int c) { return x % 2 == 0 ? value(y, x, c) : 0; });
  expect(Png{.color = 4, .lines = grey_alpha}.text(),
         [](int y, int x, int) { return x % 2 == 0 ? value(y, x, 0) : 0; });
  for (const char bits : {'\1', '\2', '\4', '\10'}) {
    const int colours = std::min(1 << bits, 16);
    const Png png{.depth = bits, .color = 3, .before = chunk("PLTE", palette(colours)), .lines = packed(bits)};
    expect(png.text(), [&](int y, int x, int c) { return (y + x) % colours * (c + 1); });
  }
  // Grey of few bits, in both numbers of channels.
  for (const char bits : {'\1', '\2', '\4'})
    for (const PictureSize& size : {kGrey, kColour})
      expect(
          Png{.depth = bits, .color = 0, .lines = packed(bits)}.text(),
          [&](int y, int x, int) { return (y + x) % (1 << bits) * 255 / ((1 << bits) - 1); }, size);
}

TEST_F(HostilePictures, OddJpegsAreRight) {
  const auto wanted = [](int y, int, int) { return y * 20; };
  for (const PictureSize& size : {kGrey, kColour})
    for (const bool progressive : {false, true})
      for (const int channels : {1, 3}) expect(jpeg(channels, progressive), wanted, size, 3);
  expect(jpeg(3) + "more behind the end", wanted, kColour, 3);
  // Exif that leads out of the file, or says a turn that is none.
  const std::string photo = jpeg(3);
  for (const std::string& exif :
       {std::string("MM\0*\xff\xff\xff\xf0", 8), std::string("II*\0\x08\0\0\0\xff\xff", 10)}) {
    const std::string content = std::string("Exif\0\0", 6) + exif;
    const std::string marker = std::string("\xff\xe1\0", 3) + static_cast<char>(content.size() + 2) + content;
    expect(photo.substr(0, 2) + marker + photo.substr(2), wanted, kColour, 3);
  }
}

TEST_F(HostilePictures, BitmapsAreRight) {
  const auto plain = [](int y, int x, int c) { return value(y, x, c); };
  expect(Bitmap{}.text(), plain);
  expect(Bitmap{.header = 12}.text(), plain);
  expect(Bitmap{.height = -kSide, .rows = Bitmap::of(0, 1, 3)}.text(), plain);
  // The fourth byte means nothing without a mask; with one it is opacity, 128 of 255 on black.
  expect(Bitmap{.bits = 32, .rows = Bitmap::of(kSide - 1, -1, 4)}.text(), plain);
  const std::string masks = little(0xff0000) + little(0xff00) + little(0xff) + little(0xff000000);
  expect(Bitmap{.bits = 32,
                .compression = 3,
                .header = 124,
                .behind = masks + std::string(124 - 40 - 16, '\0'),
                .rows = Bitmap::of(kSide - 1, -1, 4)}
             .text(),
         [](int y, int x, int c) { return (value(y, x, c) * 128 + 127) / 255; });
  std::string of_16, of_8, of_4, of_1;
  for (int y = kSide - 1; y >= 0; --y)
    for (int x = 0; x < kSide; ++x) {
      of_16 += little(static_cast<uint32_t>(y << 11 | (x * 8) << 5 | (y + x)), 2);
      of_8 += static_cast<char>(y * 8 + x);
    }
  for (int y = kSide - 1; y >= 0; --y) {
    for (int x = 0; x < kSide; x += 2) of_4 += static_cast<char>((y + x) % 16 << 4 | (y + x + 1) % 16);
    of_1 += static_cast<char>(y % 2 == 0 ? 0xaa : 0x55) + std::string(3, '\0');
  }
  expect(Bitmap{.bits = 16, .compression = 3, .behind = little(0xf800) + little(0x7e0) + little(0x1f), .rows = of_16}
             .text(),
         [](int y, int x, int c) { return c == 1 ? (x * 8 * 255 + 31) / 63 : ((c == 0 ? y : y + x) * 255 + 15) / 31; });
  std::string colours;
  for (int i = 0; i < 256; ++i)
    colours += {static_cast<char>(3 * i), static_cast<char>(2 * i), static_cast<char>(i), '\0'};
  const auto of_palette = [](int i, int c) { return i * (c + 1) % 256; };
  expect(Bitmap{.bits = 8, .behind = colours, .rows = of_8}.text(),
         [&](int y, int x, int c) { return of_palette(y * 8 + x, c); });
  expect(Bitmap{.bits = 4, .behind = colours.substr(0, 64), .rows = of_4}.text(),
         [&](int y, int x, int c) { return of_palette((y + x) % 16, c); });
  expect(Bitmap{.bits = 1, .behind = colours.substr(0, 8), .rows = of_1}.text(),
         [&](int y, int x, int c) { return of_palette((y + x + 1) % 2, c); });
  // Grey by the luminance, and resized.
  expect(
      Bitmap{}.text(),
      [](int y, int x, int) {
        return static_cast<int>(0.299 * value(y, x, 0) + 0.587 * value(y, x, 1) + 0.114 * value(y, x, 2) + 0.5);
      },
      kGrey, 1);
  EXPECT_EQ(message(Bitmap{}.text(), {.height = 5, .width = 3, .channels = 3}, {.how = ResizeKind::cover}), "read");
}

// Any byte of each may be another one, and any end may be missing: a message, or values.
TEST_F(HostilePictures, NoByteIsTrusted) {
  const std::vector<std::string> whole = {
      Png{}.text(), Bitmap{}.text(), jpeg(3),
      Bitmap{.bits = 8, .used = 4, .behind = std::string(16, '\1'), .rows = std::string(64, '\3')}.text()};
  for (const std::string& good : whole)
    for (size_t at = 0; at < good.size(); at += at < 120 ? 1 : 31) {
      for (const char c : {'\x7f', '\xff'})
        message(with(good, at, std::string(1, c)), kColour, {.how = ResizeKind::fit});
      message(good.substr(0, at));
    }
}

}  // namespace
}  // namespace heddle::runtime::data
