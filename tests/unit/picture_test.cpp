// Pictures: the values of a PNG are those that it stores, of any schedule. What libjpeg encoded at its
// best quality comes back within its rounding; what is cut off is refused.
#include "runtime/data/picture.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <vector>
// jpeglib.h needs FILE.
#include <jpeglib.h>
#include <png.h>

namespace heddle::runtime::data {
namespace {

namespace fs = std::filesystem;

constexpr int kHeight = 16, kWidth = 24;

int pixel(int y, int x, int c) { return c == 0 ? y * 15 : c == 1 ? x * 10 : 255 - y * 8 - x * 5; }

// A smooth picture, without subsampled colours. Of four channels the fourth is black.
std::vector<unsigned char> jpeg(int channels = 3) {
  jpeg_compress_struct info{};
  jpeg_error_mgr errors{};
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;  // NOLINT(google-runtime-int): libjpeg's type
  jpeg_mem_dest(&info, &bytes, &size);
  info.image_height = kHeight, info.image_width = kWidth, info.input_components = channels;
  info.in_color_space = channels == 3 ? JCS_RGB : JCS_CMYK;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, 100, TRUE);
  info.comp_info[0].h_samp_factor = info.comp_info[0].v_samp_factor = 1;
  jpeg_start_compress(&info, TRUE);
  for (int y = 0; y < kHeight; ++y) {
    std::vector<unsigned char> line;
    for (int x = 0; x < kWidth; ++x)
      for (int c = 0; c < channels; ++c) line.push_back(static_cast<unsigned char>(c < 3 ? pixel(y, x, c) : 0));
    JSAMPROW row = line.data();
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  jpeg_destroy_compress(&info);
  std::vector<unsigned char> out(bytes, bytes + size);
  std::free(bytes);  // NOLINT: libjpeg allocates so
  return out;
}

// A PNG of these values, which says nothing of their gamma.
std::vector<unsigned char> png(int color, int depth, const std::vector<unsigned char>& values) {
  std::vector<unsigned char> out;
  png_structp write = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(write);
  png_set_write_fn(
      write, &out,
      [](png_structp to, png_bytep bytes, size_t size) {
        auto* all = static_cast<std::vector<unsigned char>*>(png_get_io_ptr(to));
        all->insert(all->end(), bytes, bytes + size);
      },
      [](png_structp) {});
  png_set_IHDR(write, info, kWidth, kHeight, depth, color, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_BASE,
               PNG_FILTER_TYPE_BASE);
  png_write_info(write, info);
  for (size_t y = 0; y < kHeight; ++y) png_write_row(write, values.data() + y * (values.size() / kHeight));
  png_write_end(write, info);
  png_destroy_write_struct(&write, &info);
  return out;
}

class Picture : public testing::Test {
 protected:
  Picture() : file_(fs::temp_directory_path() / ("heddle-picture-" + std::to_string(::getpid()))) {}
  ~Picture() override { fs::remove(file_); }
  std::vector<std::byte> read(const std::vector<unsigned char>& content, PictureSize size) {
    std::ofstream(file_, std::ios::binary)
        .write(reinterpret_cast<const char*>(content.data()), static_cast<std::streamsize>(content.size()));
    std::vector<std::byte> out(static_cast<size_t>(size.bytes()));
    read_picture(file_, "p.jpg", {}, size, out.data());
    return out;
  }
  std::string message(const std::vector<unsigned char>& content, PictureSize size) {
    try {
      read(content, size);
    } catch (const UserError& error) {
      return error.diagnostics().at(0).message;
    }
    return "read";
  }

  fs::path file_;
};

TEST_F(Picture, JpegPixelsAreWhereTheyWere) {
  const std::vector<std::byte> colour = read(jpeg(), {.height = kHeight, .width = kWidth, .channels = 3}),
                               grey = read(jpeg(), {.height = kHeight, .width = kWidth, .channels = 1});
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x) {
      const size_t at = static_cast<size_t>(y) * kWidth + static_cast<size_t>(x);
      for (size_t c = 0; c < 3; ++c)
        ASSERT_NEAR(std::to_integer<int>(colour[at * 3 + c]), pixel(y, x, static_cast<int>(c)), 3) << y << " " << x;
      // ITU-R BT.601's luminance, which JFIF names.
      const double wanted = 0.299 * pixel(y, x, 0) + 0.587 * pixel(y, x, 1) + 0.114 * pixel(y, x, 2);
      ASSERT_NEAR(std::to_integer<int>(grey[at]), wanted, 2) << y << " " << x;
    }
}

// No step is made in linear light.
TEST_F(Picture, PngValuesAreTheStoredOnes) {
  const PictureSize colour{.height = kHeight, .width = kWidth, .channels = 3},
      grey{.height = kHeight, .width = kWidth, .channels = 1};
  constexpr int kOpacity[] = {0, 1, 100, 255};
  std::vector<unsigned char> deep, deep_grey, rgb, rgba;
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x) {
      for (int c = 0; c < 3; ++c) {
        const auto value = static_cast<unsigned char>(pixel(y, x, c));
        rgb.push_back(value), rgba.push_back(value);
        deep.insert(deep.end(), 2, value);  // 257 times the value
      }
      rgba.push_back(static_cast<unsigned char>(kOpacity[x % 4]));
      deep_grey.insert(deep_grey.end(), 2, static_cast<unsigned char>(pixel(y, x, 1)));
    }
  const std::vector<std::byte> plain = read(png(PNG_COLOR_TYPE_RGB, 8, rgb), colour),
                               of_16 = read(png(PNG_COLOR_TYPE_RGB, 16, deep), colour),
                               luminance = read(png(PNG_COLOR_TYPE_RGB, 8, rgb), grey),
                               grey_of_16 = read(png(PNG_COLOR_TYPE_GRAY, 16, deep_grey), grey),
                               on_black = read(png(PNG_COLOR_TYPE_RGB_ALPHA, 8, rgba), colour);
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x) {
      const size_t at = static_cast<size_t>(y) * kWidth + static_cast<size_t>(x);
      const auto same = [&](std::byte got, double wanted) {
        return std::to_integer<int>(got) == static_cast<int>(std::lround(wanted));
      };
      for (size_t c = 0; c < 3; ++c) {
        const int value = pixel(y, x, static_cast<int>(c));
        ASSERT_TRUE(same(plain[at * 3 + c], value)) << y << " " << x;
        ASSERT_TRUE(same(of_16[at * 3 + c], value)) << y << " " << x;
        ASSERT_TRUE(same(on_black[at * 3 + c], value * kOpacity[x % 4] / 255.0)) << y << " " << x;
      }
      ASSERT_TRUE(same(grey_of_16[at], pixel(y, x, 1))) << y << " " << x;
      ASSERT_NEAR(std::to_integer<int>(luminance[at]),
                  0.299 * pixel(y, x, 0) + 0.587 * pixel(y, x, 1) + 0.114 * pixel(y, x, 2), 0.51);
    }
}

TEST_F(Picture, DamagedJpegIsRefused) {
  const std::vector<unsigned char> good = jpeg();
  const PictureSize size{.height = kHeight, .width = kWidth, .channels = 3};
  for (const size_t rest : {size_t{3}, size_t{20}, good.size() / 2, good.size() - 2})
    EXPECT_TRUE(message({good.begin(), good.begin() + static_cast<ptrdiff_t>(rest)}, size)
                    .starts_with("p.jpg: the picture is damaged ("))
        << rest;
  EXPECT_EQ(message(good, {.height = 8, .width = kWidth, .channels = 3}),
            "p.jpg: a picture of 16 x 24, the input takes 8 x 24");
  for (const int64_t channels : {1, 3})
    EXPECT_EQ(message(jpeg(4), {.height = kHeight, .width = kWidth, .channels = channels}),
              "p.jpg: a JPEG of the four inks of printers (CMYK)");
}

}  // namespace
}  // namespace heddle::runtime::data
