// Maps that look at several pixels of a picture, against torchvision (tests/unit/Inputs/picture_maps.txt, which
// picture_maps.py writes). The order of channels, batches, threads and pieces of the data set change no bit.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <fstream>
#include <sstream>

#include "tests/support/fed_rows.h"
#include "tests/support/source_dir.h"

namespace heddle::runtime {
namespace {

using ir::data_map;
using ir::FedColumn;
using testing::fed_program;
using testing::fed_rows;
using Maps = std::vector<ir::DataMap>;

constexpr int kHeight = 5, kWidth = 7, kRows = 3;
constexpr Draws kDraws{.seed = (uint64_t{1} << 40) + 11, .epoch = 3};

// With `planes` the channels lie behind one another.
data::Table pictures(int channels, bool planes = false, int rows = kRows) {
  data::Column c{.input = "x", .type = data::ElementType::u8, .dims = {kHeight * kWidth * channels}};
  const int elements = kHeight * kWidth * channels;
  for (int row = 0; row < rows; ++row)
    for (int i = 0; i < elements; ++i) {
      const int from = planes ? i % (kHeight * kWidth) * channels + i / (kHeight * kWidth) : i;
      c.bytes.push_back(static_cast<std::byte>((row * elements + from) * 29 % 256));
    }
  return {.rows = rows, .columns = {c}};
}

std::string type_of(int rows, int channels, bool planes, const std::string& dtype = "f32") {
  const std::string sides = std::to_string(kHeight) + "," + std::to_string(kWidth);
  const std::string first = dtype + "[" + std::to_string(rows) + ",";
  if (channels == 1) return first + sides + "]";
  return first + (planes ? std::to_string(channels) + "," + sides : sides + "," + std::to_string(channels)) + "]";
}

std::vector<uint32_t> in_order(int rows) {
  std::vector<uint32_t> order;
  for (int i = 0; i < rows; ++i) order.push_back(static_cast<uint32_t>(i));
  return order;
}

std::vector<float> train(const Maps& maps, int channels, bool planes, testing::FedRun how = {.batch = kRows}) {
  const FedColumn column{.input = "x", .stored = ir::DType::u8, .maps = maps, .channels_first = planes};
  return fed_rows(fed_program(type_of(how.batch, channels, planes), column, "train"), "train",
                  pictures(channels, planes), in_order(kRows), kDraws, how);
}

TEST(FeedSamples, AreTorchvisions) {
  std::ifstream file(testing::source_dir() / "tests/unit/Inputs/picture_maps.txt");
  std::string line;
  int cases = 0;
  while (std::getline(file, line)) {
    std::istringstream head(line);
    int channels = 0;
    std::string text;
    head >> channels;
    std::getline(head, text);
    const std::vector<float> got = train(ir::read_maps(text), channels, false);
    size_t at = 0;
    for (int row = 0; row < kRows; ++row) {
      std::getline(file, line);
      std::istringstream values(line);
      for (double wanted = 0; values >> wanted; ++at) {
        ASSERT_LT(at, got.size());
        // Six digits are stored; singles of up to 255 are summed up.
        ASSERT_NEAR(got[at], wanted, 2e-3) << text << ", row " << row << ", element " << at;
      }
    }
    ASSERT_EQ(at, got.size()) << text;
    ++cases;
  }
  EXPECT_EQ(cases, 15);
}

Maps all_of_them() {
  return ir::read_maps(
      "random_resized_crop(); color_jitter(brightness = 0.4, contrast = 0.5, saturation = 0.6, hue = 0.2, white = "
      "255); "
      "blur(kernel = 3); scale(by = 0.5 0.25 0.125); grayscale(probability = 0.5); "
      "affine(degrees = 30, translate = 0.3 0.2, scale = 0.7 1.4, shear = 20, fill = 3); flip(probability = 0.5); "
      "random_erase(probability = 0.5, fill = 1)");
}

TEST(FeedSamples, BitsAreThoseOfTheRowAlone) {
  const std::vector<float> wanted = train(all_of_them(), 3, false);
  for (const testing::FedRun& how :
       {testing::FedRun{.batch = 1, .threads = 1}, testing::FedRun{.batch = 3, .threads = 3},
        testing::FedRun{.batch = 1, .threads = 2, .resident = 1}})
    EXPECT_EQ(train(all_of_them(), 3, false, how), wanted) << how.batch;
  const std::vector<float> planes = train(all_of_them(), 3, true);
  ASSERT_EQ(planes.size(), wanted.size());
  constexpr size_t kPixels = kHeight * kWidth;
  for (size_t i = 0; i < wanted.size(); ++i) {
    const size_t row = i / (3 * kPixels), pixel = i % (3 * kPixels) / 3, channel = i % 3;
    EXPECT_EQ(planes[(row * 3 + channel) * kPixels + pixel], wanted[i]) << i;
  }
}

// An evaluation has the pictures as they are, but for the middle that it cuts, too.
TEST(FeedSamples, ActInTrainingAlone) {
  const Maps maps = ir::read_maps("rotate(degrees = 90, fill = 0); blur(kernel = 5); random_resized_crop()");
  const FedColumn column{.input = "x", .stored = ir::DType::u8, .maps = maps};
  const data::Table table = pictures(1);
  std::vector<float> plain;
  for (const std::byte b : table.columns[0].bytes) plain.push_back(static_cast<float>(std::to_integer<int>(b)));
  EXPECT_EQ(fed_rows(fed_program("f32[3,5,7]", column, "eval"), "eval", table, in_order(kRows), kDraws, {.batch = 3}),
            plain);
  EXPECT_NE(train(maps, 1, false), plain);
}

// torchvision's CenterCrop begins at round((5 - 2) / 2.0), which is 2, and at (7 - 4) / 2 likewise.
TEST(FeedSamples, TheMiddleIsTorchvisions) {
  const Maps maps = {data_map("center_crop", {{"from", {kHeight, kWidth}}})};
  for (const char* entry : {"eval", "train"})
    for (const bool planes : {false, true}) {
      const FedColumn column{.input = "x", .stored = ir::DType::u8, .maps = maps, .channels_first = planes};
      const data::Table table = pictures(3, planes);
      const std::vector<float> got = fed_rows(fed_program(planes ? "f32[3,3,2,4]" : "f32[3,2,4,3]", column, entry),
                                              entry, table, in_order(kRows), {}, {.batch = 3});
      for (int i = 0; i < kRows * 24; ++i) {
        const int row = i / 24, y = planes ? i / 4 % 2 : i / 12 % 2, x = planes ? i % 4 : i / 3 % 4,
                  c = planes ? i / 8 % 3 : i % 3;
        EXPECT_EQ(got[static_cast<size_t>(i)], (row * 105 + ((y + 2) * kWidth + x + 2) * 3 + c) * 29 % 256) << i;
      }
    }
}

// A mask of classes is turned as its picture is, and keeps its classes.
TEST(FeedSamples, MasksOfIntegersMoveWithTheirPictures) {
  const Maps maps = ir::read_maps(
      "affine(degrees = 40, translate = 0.2 0.2, scale = 0.8 1.2, shear = 10, filter = 1, fill = 3); "
      "random_resized_crop(filter = 1); rotate(degrees = 30, filter = 1, fill = 3)");
  const FedColumn column{.input = "x", .stored = ir::DType::u8, .maps = maps};
  const std::vector<float> picture = train(maps, 1, false),
                           mask = fed_rows(fed_program("i32[3,5,7]", column, "train"), "train", pictures(1),
                                           in_order(kRows), kDraws, {.batch = 3});
  ASSERT_EQ(mask.size(), picture.size());
  for (size_t i = 0; i < mask.size(); ++i)
    EXPECT_EQ(static_cast<float>(std::bit_cast<int32_t>(mask[i])), picture[i]) << i;
}

// A number for each column is that of the column where its map stands, whatever moves the picture behind it.
TEST(FeedSamples, NumbersOfColumnsStayWithTheirColumns) {
  const Maps scaled = ir::read_maps("scale(by = 1 2 3 4 5 6 7)");
  const data::Table table = pictures(1);
  for (const char* behind :
       {"flip(probability = 1)", "blur(kernel = 1); flip(probability = 1)", "pad(pad = 0 0 2 1, fill = 3)"}) {
    Maps maps = scaled;
    for (const ir::DataMap& map : ir::read_maps(behind)) maps.push_back(map);
    const bool padded = std::string(behind).starts_with("pad");
    const int width = padded ? kWidth + 3 : kWidth;
    const FedColumn column{.input = "x", .stored = ir::DType::u8, .maps = maps};
    const std::vector<float> got = fed_rows(fed_program("f32[3,5," + std::to_string(width) + "]", column, "train"),
                                            "train", table, in_order(kRows), kDraws, {.batch = 3});
    for (size_t i = 0; i < got.size(); ++i) {
      const int line = static_cast<int>(i) / width, x = static_cast<int>(i) % width,
                from = padded ? x - 2 : kWidth - 1 - x;
      const bool inside = from >= 0 && from < kWidth;
      EXPECT_EQ(got[i], inside ? (line * kWidth + from) * 29 % 256 * (from + 1) : 3) << behind << ", " << i;
    }
  }
}

// A row and the one before it are changed, each by its own draws, and then mixed.
TEST(FeedSamples, AreMixedBehind) {
  const Maps alone = ir::read_maps("rotate(degrees = 90, fill = 0); blur(kernel = 3)");
  Maps mixed = alone;
  mixed.push_back(data_map("mixup"));
  const std::vector<float> rows = train(alone, 1, false), got = train(mixed, 1, false);
  constexpr size_t kElements = kHeight * kWidth;
  for (size_t row = 0; row < kRows; ++row) {
    const size_t other = row == 0 ? kRows - 1 : row - 1;
    double share = -1;
    for (size_t i = 0; i < kElements; ++i) {
      const double a = rows[row * kElements + i], b = rows[other * kElements + i], m = got[row * kElements + i];
      if (std::abs(a - b) < 30) continue;
      if (share < 0) share = (m - b) / (a - b);
      EXPECT_NEAR(m, share * a + (1 - share) * b, 0.05) << row << ", " << i;
    }
    EXPECT_GE(share, -1e-4);
    EXPECT_LE(share, 1 + 1e-4);
  }
}

TEST(FeedSamples, RefuseWhatDoesNotFit) {
  for (const char* text :
       {"blur(kernel = 4)", "blur()", "blur(kernel = 3, sigma = 2 1)", "random_resized_crop(scale = 0.5)",
        "random_resized_crop(scale = 0 1)", "random_resized_crop(ratio = 2 1)", "color_jitter()",
        "color_jitter(hue = 0.6)", "rotate(fill = 0)", "affine(translate = 0.1)", "affine(scale = 1)",
        "rotate(degrees = 10, filter = 0.5, fill = 0)", "center_crop(from = 5)"})
    EXPECT_THROW(ir::read_maps(text), ir::InferError) << text;
  const auto fault = [](const char* text, const ir::MapRow& row) { return ir::map_fault(ir::read_maps(text), 0, row); };
  const ir::MapRow grey{.dims = {5, 7}}, two{.dims = {5, 7, 2}}, whole{.dtype = ir::DType::i32, .dims = {5, 7}};
  EXPECT_NE(fault("blur(kernel = 11)", grey), "");
  EXPECT_EQ(fault("blur(kernel = 9)", grey), "");
  EXPECT_NE(fault("grayscale(probability = 1)", grey), "");
  EXPECT_NE(fault("center_crop(from = 4 7)", grey), "");
  const std::string jitter = "color_jitter(brightness = 0.1, contrast = 0, white = 255, saturation = ";
  EXPECT_EQ(fault((jitter + "0, hue = 0)").c_str(), grey), "");
  EXPECT_NE(fault((jitter + "1, hue = 0)").c_str(), grey), "");
  EXPECT_EQ(fault((jitter + "0, hue = 0)").c_str(), two), "");
  EXPECT_NE(fault("color_jitter(brightness = 0, contrast = 1, saturation = 0, hue = 0, white = 1)", two), "");
  EXPECT_NE(fault("rotate(degrees = 5, fill = 0)", whole), "");
  EXPECT_NE(fault("rotate(degrees = 5, filter = 1, fill = 0.5)", whole), "");
  EXPECT_EQ(fault("rotate(degrees = 5, filter = 1, fill = 1)", whole), "");
}

}  // namespace
}  // namespace heddle::runtime
