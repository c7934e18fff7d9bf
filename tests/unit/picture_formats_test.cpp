// WebP, TIFF and GIF: pixels are those that Pillow reads (Inputs/picture_formats.py), and files that nobody should open
// without care end in a message, or in the values that they store.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "runtime/data/picture.h"
#include "tests/support/source_dir.h"

namespace heddle::runtime::data {
namespace {

const std::filesystem::path& folder() {
  static const std::filesystem::path path = testing::source_dir() / "tests/unit/Inputs/picture_formats";
  return path;
}
std::string file_of(const std::string& name) {
  std::ifstream in(folder() / name, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

struct Fixture {
  std::string name, content;
  PictureSize size;
  std::vector<std::byte> pixels;
};
const std::vector<Fixture>& fixtures() {
  static const std::vector<Fixture> all = [] {
    std::vector<Fixture> made;
    std::ifstream in(folder() / "pixels.txt");
    for (std::string line; std::getline(in, line);) {
      std::istringstream words(line);
      Fixture f{.name = {}, .content = {}, .size = {.channels = 3}, .pixels = {}};
      std::string hex;
      words >> f.name >> f.size.height >> f.size.width >> hex;
      f.content = file_of(f.name);
      for (size_t i = 0; i + 1 < hex.size(); i += 2)
        f.pixels.push_back(static_cast<std::byte>(std::stoi(hex.substr(i, 2), nullptr, 16)));
      made.push_back(std::move(f));
    }
    return made;
  }();
  return all;
}

class PictureFormats : public ::testing::Test {
 protected:
  PictureFormats() : file_(::memfd_create("picture", 0)), path_("/proc/self/fd/" + std::to_string(file_)) {}
  ~PictureFormats() override { ::close(file_); }

  // The message behind the file's name; "read", and the pixels, where there is none.
  std::string read(const std::string& content, PictureSize size, Resizing resizing = {}) {
    EXPECT_EQ(::ftruncate(file_, 0), 0);
    EXPECT_EQ(::pwrite(file_, content.data(), content.size(), 0), std::ssize(content));
    pixels_.assign(static_cast<size_t>(size.bytes()), std::byte{7});
    try {
      read_picture(path_, "a/p", {}, size, pixels_.data(), resizing);
    } catch (const UserError& error) {
      const std::string text = error.diagnostics().at(0).message;
      EXPECT_TRUE(text.starts_with("a/p: ")) << text;
      EXPECT_EQ(error.diagnostics().size(), 1U);
      return text.substr(std::min<size_t>(text.size(), 5));
    }
    return "read";
  }
  std::vector<std::byte> pixels_;

 private:
  int file_;
  std::string path_;
};

TEST_F(PictureFormats, PixelsAreThoseOfPillow) {
  ASSERT_GE(fixtures().size(), 70U);
  for (const Fixture& f : fixtures()) {
    ASSERT_EQ(read(f.content, f.size), "read") << f.name;
    EXPECT_EQ(pixels_, f.pixels) << f.name;
    // Grey is the luminance of what is shown.
    PictureSize grey = f.size;
    grey.channels = 1;
    ASSERT_EQ(read(f.content, grey), "read") << f.name;
    for (size_t i = 0; i < pixels_.size(); ++i) {
      const auto part = [&](size_t c) { return std::to_integer<uint32_t>(f.pixels[3 * i + c]); };
      ASSERT_EQ(std::to_integer<uint32_t>(pixels_[i]),
                (19595 * part(0) + 38470 * part(1) + 7471 * part(2) + 32768) >> 16)
          << f.name << " " << i;
    }
    // Other sizes are refused, or resized.
    const PictureSize small{.height = 5, .width = 4, .channels = 3};
    EXPECT_TRUE(read(f.content, small).starts_with("a picture of ")) << f.name;
    EXPECT_EQ(read(f.content, small, {.how = ResizeKind::cover}), "read") << f.name;
  }
}

// What is cut off is refused, or whole: the last byte of a GIF says no more than that it ends. Nothing is printed.
TEST_F(PictureFormats, NoEndIsTakenForGranted) {
  ::testing::internal::CaptureStderr();
  for (const Fixture& f : fixtures())
    for (size_t size = 0; size < f.content.size(); size += size < 60 || size + 12 > f.content.size() ? 1 : 11) {
      const bool whole = read(f.content.substr(0, size), f.size) != "read" || pixels_ == f.pixels;
      EXPECT_TRUE(whole) << f.name << " of " << size;
    }
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

TEST_F(PictureFormats, NoByteIsTrusted) {
  ::testing::internal::CaptureStderr();
  size_t refused = 0;
  for (const Fixture& f : fixtures())
    for (size_t at = 0; at < f.content.size(); at += at < 100 ? 3 : 19) {
      std::string bad = f.content;
      bad[at] = static_cast<char>(bad[at] ^ (at % 2 == 0 ? '\xff' : '\1'));
      refused += read(bad, f.size) != "read" ? 1 : 0;
      if (at % 4 == 0) read(bad, {.height = 3, .width = 5, .channels = 1}, {.how = ResizeKind::fit});
    }
  EXPECT_GT(refused, 1000U);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

// --- files made by hand ---

std::string little(uint64_t v, int width) {
  std::string s;
  for (int i = 0; i < width; ++i) s += static_cast<char>(v >> 8 * i);
  return s;
}

struct Field {
  uint16_t tag, type;  // 3: 16 bits, 4: 32 bits
  uint32_t count, value;
};
// A TIFF of 8 x 8 grey values in one strip; fields replace others of their tag.
std::string tiff(const std::vector<Field>& other = {}, const std::string& pixels = std::string(64, '\x55')) {
  const auto at = static_cast<uint32_t>(8 + pixels.size());
  std::vector<Field> fields = {{256, 4, 1, 8}, {257, 4, 1, 8}, {258, 3, 1, 8},
                               {259, 3, 1, 1}, {262, 3, 1, 1}, {273, 4, 1, 8},
                               {277, 3, 1, 1}, {278, 4, 1, 8}, {279, 4, 1, static_cast<uint32_t>(pixels.size())}};
  for (const Field& f : other) {
    std::erase_if(fields, [&](const Field& old) { return old.tag == f.tag; });
    fields.push_back(f);
  }
  std::ranges::sort(fields, {}, &Field::tag);
  std::string all = "II*" + std::string(1, '\0') + little(at, 4) + pixels + little(fields.size(), 2);
  for (const Field& f : fields) all += little(f.tag, 2) + little(f.type, 2) + little(f.count, 4) + little(f.value, 4);
  return all + little(0, 4);
}

std::string gif(uint16_t screen, uint16_t left, uint16_t side, const std::string& codes,
                const std::string& before = "") {
  const std::string palette = std::string(3, '\0') + std::string(3, '\xff');
  return "GIF89a" + little(screen, 2) + little(screen, 2) + "\x80" + std::string(2, '\0') + palette + before + "," +
         little(left, 2) + little(0, 2) + little(side, 2) + little(side, 2) + std::string(1, '\0') + codes + ";";
}
// 2 x 2 pixels of the first colour, in codes of 3 bits: clear, 0, 0, clear, 0, 0, end.
const std::string kCodes{"\x02\x03\x04\x08\x14\x00", 6};

std::string chunk(const std::string& kind, const std::string& content) {
  return kind + little(content.size(), 4) + content + std::string(content.size() % 2, '\0');
}
std::string riff(const std::string& chunks) { return "RIFF" + little(4 + chunks.size(), 4) + "WEBP" + chunks; }
std::string canvas(uint32_t side) {
  return chunk("VP8X", std::string("\x02\0\0\0", 4) + little(side - 1, 3) + little(side - 1, 3)) +
         chunk("ANIM", std::string(6, '\0'));
}
// One of 13 x 9 at `left`, twice that in pixels.
std::string frame(uint32_t left) {
  const std::string picture = file_of("lossless.webp").substr(12);
  return chunk("ANMF", little(left, 3) + little(0, 3) + little(12, 3) + little(8, 3) + little(40, 3) +
                           std::string(1, '\0') + picture);
}

struct Refused {
  const char* what;
  std::string content, message;  // the message's beginning
};
const std::string kNoTiff = "not a TIFF picture that can be read (", kNoGif = "not a GIF picture that can be read (",
                  kNoWebp = "not a WebP picture that can be read (", kDamaged = "the picture is damaged (";

std::vector<Refused> refused_tiffs() {
  const Field strip{278, 4, 1, 100000};
  return {
      {"sides of 100000", tiff({{256, 4, 1, 100000}, {257, 4, 1, 100000}}),
       "a picture of 100000 x 100000, the input takes 8 x 8"},
      {"one strip of 100000 rows", tiff({{256, 4, 1, 100000}, {257, 4, 1, 100000}, strip}),
       "a picture of 100000 x 100000"},
      {"a width of 0", tiff({{256, 4, 1, 0}}), kNoTiff},
      {"a height of 0", tiff({{257, 4, 1, 0}}), kNoTiff},
      {"7 bits", tiff({{258, 3, 1, 7}}), kNoTiff + "its samples have 7 bits)"},
      {"32 bits", tiff({{258, 3, 1, 32}}), kNoTiff + "its samples have 32 bits)"},
      {"no bits", tiff({{258, 3, 1, 0}}), kNoTiff},
      {"real numbers", tiff({{258, 3, 1, 16}, {339, 3, 1, 3}}),
       kNoTiff + "its samples are not whole numbers from 0 on)"},
      {"numbers with a sign", tiff({{339, 3, 1, 2}}), kNoTiff + "its samples are not whole numbers from 0 on)"},
      {"inks", tiff({{262, 3, 1, 5}, {277, 3, 1, 4}}), kNoTiff + "its colours are the four inks of printers, CMYK)"},
      {"a camera's raw values", tiff({{262, 3, 1, 32803}}), kNoTiff + "its colours are of the kind 32803)"},
      {"a palette that is none", tiff({{262, 3, 1, 3}, {258, 3, 1, 4}}), kNoTiff},
      {"red alone", tiff({{262, 3, 1, 2}}), kNoTiff + "it has 1 samples in a pixel)"},
      {"65535 samples", tiff({{277, 3, 1, 65535}}), kNoTiff + "it has 65535 samples in a pixel)"},
      {"the JPEG of TIFF 6", tiff({{259, 3, 1, 6}}), kNoTiff},
      {"a compression that is none", tiff({{259, 3, 1, 4711}}), kNoTiff},
      {"a strip behind the end", tiff({{273, 4, 1, 5000}}), kDamaged},
      {"2^32 strips", tiff({{257, 4, 1, 0xffffffff}, {278, 4, 1, 1}}), kNoTiff},
      {"bad LZW", tiff({{259, 3, 1, 5}}, std::string(64, '\xfe')), kDamaged},
      {"bad deflate", tiff({{259, 3, 1, 8}}, std::string(64, '\xfe')), kDamaged},
      {"bad run lengths", tiff({{259, 3, 1, 32773}}, std::string(64, '\x7f')), kDamaged},
      {"a bad fax", tiff({{258, 3, 1, 1}, {259, 3, 1, 4}}, std::string(64, '\0')), kDamaged},
      {"a bad JPEG", tiff({{259, 3, 1, 7}}), kDamaged},
      {"a tile of 2^31", tiff({{322, 4, 1, 1U << 31}, {323, 4, 1, 1U << 31}, {324, 4, 1, 8}, {325, 4, 1, 64}}), ""},
      {"a tile of 2^30 bytes", tiff({{322, 4, 1, 1U << 15}, {323, 4, 1, 1U << 15}, {324, 4, 1, 8}, {325, 4, 1, 64}}),
       kDamaged},
      {"a tile of no width", tiff({{322, 4, 1, 0}, {323, 4, 1, 16}, {324, 4, 1, 8}, {325, 4, 1, 64}}), ""},
      {"a directory in itself", "II*" + std::string(1, '\0') + little(4, 4) + std::string(100, '\xff'), kNoTiff},
      {"a directory behind the end", "II*" + std::string(1, '\0') + little(0x7fffffff, 4), kNoTiff},
      {"a directory of nothing", "II*" + std::string(1, '\0') + little(8, 4) + little(0, 6), kNoTiff},
      {"a big one cut off", std::string("II+\0\x08\0\0\0", 8), kNoTiff},
  };
}

std::vector<Refused> refused_others() {
  std::string far_codes = kCodes, long_codes = kCodes;
  far_codes[2] = '\x3c';   // behind the clear code one that is not there yet
  long_codes[0] = '\x0d';  // codes begin with 14 bits
  const std::string endless = [] {
    std::string all;
    for (int i = 0; i < 100000; ++i) all += std::string("\x21\xfe\x01x\0", 5);
    return all;
  }();
  return {
      {"a GIF's name", "GIF89a", kNoGif},
      {"a GIF without a picture", gif(2, 0, 2, kCodes).substr(0, 19) + ";", kNoGif + "there is no picture in it)"},
      {"a GIF of 65535 x 65535", gif(65535, 0, 2, kCodes), "a picture of 65535 x 65535, the input takes 8 x 8"},
      {"a GIF's picture of no pixels", gif(8, 0, 0, kCodes), kNoGif + "its first picture has no pixels)"},
      {"a GIF with fewer pixels than it says", gif(8, 0, 8, kCodes), kDamaged},
      {"a GIF with a code that is none", gif(8, 0, 2, far_codes), kDamaged},
      {"a GIF with codes of 14 bits", gif(8, 0, 2, long_codes), kNoGif},
      {"a GIF of remarks without an end", "GIF89a" + gif(2, 0, 2, kCodes).substr(6, 13) + endless, kNoGif},
      {"a GIF without its colours", "GIF89a" + little(8, 2) + little(8, 2) + "\xf7", kNoGif},
      {"a WebP's name", "RIFF" + little(4, 4) + "WEBP", kNoWebp},
      {"a WebP without a picture", riff(canvas(8)), kNoWebp},
      {"a WebP of 2^24 x 2^24", riff(canvas(1U << 24) + frame(0)), ""},
      {"a WebP of 16000 x 16000", riff(canvas(16000) + frame(0)), "a picture of 16000 x 16000, the input takes 8 x 8"},
      {"a WebP with a frame outside", riff(canvas(14) + frame(1)), kNoWebp},
      {"a WebP of another chunk", riff(chunk("JUNK", std::string(40, '\1'))), kNoWebp},
      {"a WebP larger than its file", "RIFF" + little(0x7ffffff0, 4) + "WEBPVP8 " + little(0x7fffff00, 4), kNoWebp},
      {"a WebP of zeros", riff(chunk("VP8L", std::string(60, '\0'))), kNoWebp},
  };
}

TEST_F(PictureFormats, HostileFilesEndInAMessage) {
  ::testing::internal::CaptureStderr();
  const PictureSize size{.height = 8, .width = 8, .channels = 3};
  std::vector<Refused> all = refused_tiffs();
  for (Refused& r : refused_others()) all.push_back(std::move(r));
  for (const Refused& r : all) {
    const std::string said = read(r.content, size);
    EXPECT_TRUE(said != "read" && said.starts_with(r.message)) << r.what << ": " << said;
    EXPECT_NE(read(r.content, {.height = 3, .width = 20, .channels = 1}, {.how = ResizeKind::cover}), "read") << r.what;
  }
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  // More pixels than are resized are not decoded.
  for (const std::string& large :
       {tiff({{256, 4, 1, 100000}, {257, 4, 1, 100000}}), gif(65535, 0, 2, kCodes), riff(canvas(16000) + frame(0))})
    EXPECT_NE(read(large, size, {.how = ResizeKind::fit}).find("at most 67108864 pixels are resized"),
              std::string::npos);
}

TEST_F(PictureFormats, OddOnesAreRead) {
  const PictureSize size{.height = 8, .width = 8, .channels = 3};
  EXPECT_EQ(read(tiff(), size), "read");
  EXPECT_EQ(pixels_, std::vector<std::byte>(192, std::byte{0x55}));
  EXPECT_EQ(read(tiff() + "more behind the end", size), "read");
  EXPECT_EQ(read(tiff({{279, 4, 1, 0}}), size), "read") << "a strip that does not say how long it is";
  EXPECT_EQ(pixels_, std::vector<std::byte>(192, std::byte{0x55}));
  EXPECT_EQ(read(tiff({{65000, 3, 1, 7}}), size), "read") << "a field that nobody knows";
  EXPECT_EQ(read(tiff({{274, 3, 1, 99}}), size), "read") << "a turn that is none";
  EXPECT_EQ(pixels_, std::vector<std::byte>(192, std::byte{0x55}));
  // A palette of 8 bits where 16 belong: sixteen greys.
  std::string values, colours;
  for (int i = 0; i < 32; ++i) values += '\x3c';
  for (int c = 0; c < 3; ++c)
    for (int i = 0; i < 16; ++i) colours += little(static_cast<uint64_t>(i * 10 + c), 2);
  const Field bits{258, 3, 1, 4}, palette{262, 3, 1, 3}, length{279, 4, 1, 32}, map{320, 3, 48, 8 + 32};
  ASSERT_EQ(read(tiff({bits, palette, length, map}, values + colours), size), "read");
  EXPECT_EQ(std::vector(pixels_.begin(), pixels_.begin() + 6),
            (std::vector{std::byte{30}, std::byte{31}, std::byte{32}, std::byte{120}, std::byte{121}, std::byte{122}}));
  // Grey of four bits with opacity: 15 of 15 is all of it.
  const Field two_bits{258, 3, 2, 4 | 4 << 16}, samples{277, 3, 1, 2}, opacity{338, 3, 1, 2}, row{279, 4, 1, 64};
  ASSERT_EQ(read(tiff({two_bits, samples, opacity, row}, std::string(64, '\xcf')), size), "read");
  EXPECT_EQ(pixels_, std::vector<std::byte>(192, std::byte{0xcc}));
  // What follows a first picture is not looked at.
  EXPECT_TRUE(read(gif(2, 65535, 2, kCodes), size).starts_with("a picture of 2 x 65537, the input takes 8 x 8"));
  const std::string one = gif(2, 0, 2, kCodes);
  const PictureSize two{.height = 2, .width = 2, .channels = 3};
  EXPECT_EQ(read(one, two), "read");
  EXPECT_EQ(read(one.substr(0, one.size() - 1) + std::string(5000, ','), two), "read");
  std::string frames = canvas(14);
  for (int i = 0; i < 3000; ++i) frames += frame(0);
  EXPECT_EQ(read(riff(frames), {.height = 14, .width = 14, .channels = 3}), "read");
}

}  // namespace
}  // namespace heddle::runtime::data
