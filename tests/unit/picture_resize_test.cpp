// Resized pictures against Pillow 13.0: ImageOps.pad with color 0, ImageOps.fit and Image.resize, of the picture below.
// Turned ones against the definition of Exif's orientation.
#include "runtime/data/picture_resize.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "runtime/data/picture_turn.h"

namespace heddle::runtime::data {
namespace {

struct Case {
  PictureSize size;
  Resizing resizing;
  PictureSize result;
  std::vector<int> values;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {{5, 7, 1}, {ResizeKind::stretch, false}, {3, 4, 1}, {23, 43, 67, 88, 85, 118, 156, 159, 147, 192, 140, 86}},
      {{5, 7, 3},
       {ResizeKind::stretch, true},
       {2, 3, 3},
       {42, 115, 178, 80, 153, 158, 118, 160, 106, 139, 195, 112, 174, 106, 79, 124, 106, 136}},
      {{3, 4, 1}, {ResizeKind::stretch, true}, {6, 7, 1}, {0,   0,   6,  13, 19, 25,  29,  6,   9,  17, 24,
                                                           31,  39,  43, 26, 30, 40,  48,  56,  66, 71, 46,
                                                           52,  64,  74, 84, 96, 101, 66,  73,  86, 98, 110,
                                                           123, 130, 75, 83, 97, 110, 122, 135, 144}},
      {{1, 1, 3}, {ResizeKind::cover, false}, {2, 2, 3}, {0, 71, 142, 0, 71, 142, 0, 71, 142, 0, 71, 142}},
      {{3, 40, 1}, {ResizeKind::cover, true}, {4, 3, 1}, {213, 221, 229, 129, 139, 150, 67, 81, 94, 66, 82, 98}},
      {{30, 20, 1}, {ResizeKind::stretch, true}, {3, 18, 1}, {103, 105, 119, 134, 117, 97,  120, 158, 116, 118, 134,
                                                              110, 136, 126, 111, 135, 134, 122, 118, 128, 116, 113,
                                                              132, 118, 124, 148, 121, 117, 122, 154, 137, 126, 116,
                                                              137, 144, 144, 122, 134, 114, 110, 116, 114, 134, 133,
                                                              113, 134, 125, 149, 141, 141, 141, 122, 135, 109}},
      {{1, 50, 1}, {ResizeKind::fit, false}, {3, 3, 1}, {0, 0, 0, 0, 0, 0, 0, 0, 0}},  // 1/50 of 3 rounds to no pixel
      {{50, 1, 1}, {ResizeKind::fit, false}, {2, 4, 1}, {0, 0, 0, 0, 0, 0, 0, 0}},
      {{1, 5, 1}, {ResizeKind::fit, false}, {3, 3, 1}, {0, 0, 0, 5, 22, 39, 0, 0, 0}},
      {{2, 3, 3}, {ResizeKind::fit, false}, {2, 2, 3}, {24, 95, 166, 41, 112, 183, 0, 0, 0, 0, 0, 0}},
      {{9, 6, 3}, {ResizeKind::cover, false}, {4, 4, 3}, {74,  145, 205, 101, 169, 120, 130, 176, 101, 158, 201, 76,
                                                          129, 200, 133, 167, 166, 63,  178, 66,  93,  159, 88,  131,
                                                          179, 90,  76,  116, 82,  125, 90,  104, 166, 72,  143, 203,
                                                          108, 61,  132, 58,  120, 181, 110, 153, 128, 89,  127, 145}},
  };
  return all;
}

TEST(PictureResize, IsPillows) {
  for (const Case& c : cases()) {
    std::vector<std::byte> from, to(static_cast<size_t>(c.result.bytes()), std::byte{99});
    for (int64_t y = 0; y < c.size.height; ++y)
      for (int64_t x = 0; x < c.size.width; ++x)
        for (int64_t k = 0; k < c.size.channels; ++k)
          from.push_back(static_cast<std::byte>((y * 37 + x * 11 + k * 71 + (y * x) % 29 * 5) % 256));
    resize_picture(from.data(), c.size, c.resizing, c.result, to.data());
    ASSERT_EQ(to.size(), c.values.size());
    for (size_t i = 0; i < to.size(); ++i)
      EXPECT_NEAR(std::to_integer<int>(to[i]), c.values[i], 1) << c.size.height << " x " << c.size.width << ", " << i;
  }
}

// ImageOps.pad and fit, and Image.resize, with NEAREST.
TEST(PictureResize, TakesPillowsNearestPixels) {
  struct Nearest {
    PictureSize size;
    ResizeKind how;
    PictureSize result;
    std::vector<int> values;
  };
  const std::vector<Nearest> all = {
      {{5, 7, 1}, ResizeKind::stretch, {3, 4, 1}, {0, 22, 44, 66, 74, 116, 158, 200, 148, 210, 16, 78}},
      {{3, 4, 1}, ResizeKind::stretch, {6, 3, 1}, {0, 22, 33, 0, 22, 33, 37, 69, 85, 37, 69, 85, 74, 116, 137, 74, 116, 137}},
      {{3, 40, 1}, ResizeKind::cover, {4, 3, 1}, {209, 220, 220, 85, 101, 101, 85, 101, 101, 72, 93, 93}},
      {{9, 6, 1}, ResizeKind::cover, {4, 4, 1}, {74, 116, 137, 179, 111, 163, 189, 241, 185, 1, 37, 109, 222, 48, 89, 26}},
      {{1, 5, 1}, ResizeKind::fit, {3, 3, 1}, {0, 0, 0, 0, 22, 44, 0, 0, 0}},
      {{2, 3, 1},
       ResizeKind::fit,
       {4, 5, 1},
       {0, 0, 11, 22, 22, 37, 37, 53, 69, 69, 37, 37, 53, 69, 69, 0, 0, 0, 0, 0}},
      {{8, 8, 1}, ResizeKind::cover, {3, 5, 1}, {74, 116, 158, 179, 221, 148, 210, 16, 47, 109, 185, 1, 73, 109, 36}},
  };
  for (const Nearest& c : all) {
    std::vector<std::byte> from, to(static_cast<size_t>(c.result.bytes()), std::byte{99});
    for (int64_t y = 0; y < c.size.height; ++y)
      for (int64_t x = 0; x < c.size.width; ++x)
        from.push_back(static_cast<std::byte>((y * 37 + x * 11 + (y * x) % 29 * 5) % 256));
    resize_nearest(from.data(), c.size, c.how, c.result, to.data());
    ASSERT_EQ(to.size(), c.values.size());
    for (size_t i = 0; i < to.size(); ++i)
      EXPECT_EQ(std::to_integer<int>(to[i]), c.values[i]) << c.size.height << " x " << c.size.width << ", " << i;
  }
}

// The little-endian Exif of an orientation.
std::vector<unsigned char> exif(unsigned char orientation) {
  return {'E', 'x', 'i', 'f', 0, 0, 'I', 'I', 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, orientation, 0, 0, 0};
}

TEST(PictureTurn, ReadsExifStrictly) {
  for (unsigned char o = 1; o <= 8; ++o) EXPECT_EQ(exif_orientation(exif(o)), o);
  EXPECT_EQ(exif_orientation(exif(0)), 1);
  EXPECT_EQ(exif_orientation(exif(9)), 1);
  const std::vector<unsigned char> good = exif(6);
  EXPECT_EQ(exif_orientation({}), 1);
  for (size_t rest = 1; rest < good.size() - 2; ++rest) EXPECT_EQ(exif_orientation(std::span(good).first(rest)), 1);
  for (const size_t at : {0U, 6U, 8U, 10U, 13U, 16U, 18U, 20U}) {
    std::vector<unsigned char> bad = good;
    bad[at] = 0xfe;
    EXPECT_EQ(exif_orientation(bad), 1) << at;
  }
}

TEST(PictureTurn, FollowsExif) {
  const std::vector<std::string> wanted = {"abcdef", "cbafed", "fedcba", "defabc",
                                           "adbecf", "daebfc", "fcebda", "cfbead"};
  const std::string stored = "abcdef";  // 2 x 3
  for (int o = 1; o <= 8; ++o) {
    std::string turned(6, ' ');
    turn_picture(reinterpret_cast<const std::byte*>(stored.data()), {2, 3, 1}, o,
                 reinterpret_cast<std::byte*>(turned.data()));
    EXPECT_EQ(turned, wanted[static_cast<size_t>(o - 1)]) << o;
    EXPECT_EQ(turned_size({2, 3, 1}, o).height, o < 5 ? 2 : 3);
  }
}

}  // namespace
}  // namespace heddle::runtime::data
