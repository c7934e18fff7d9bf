// Pictures of JPEG: what libjpeg encoded at its best quality comes back within its rounding; what is cut off is refused.
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
