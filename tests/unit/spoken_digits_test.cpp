// Spoken digits: what the kind promises, and that files of its samples are read as the rows are drawn.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "runtime/data/sound_columns.h"
#include "runtime/data/synthetic.h"
#include "tests/support/source_dir.h"

namespace heddle::runtime::data {
namespace {

constexpr int64_t kFrames = 96, kBands = 40, kSamples = 26'000;

ColumnRequest column(const std::string& source, std::vector<int64_t> dims) {
  const bool sound = source == "log_mel" || source == "samples";
  return {.input = source, .sources = {{source}}, .dtype = sound ? "f32" : "i32", .dims = std::move(dims), .where = {}};
}

ReaderRequest request(std::vector<ColumnRequest> columns, int64_t rows, int64_t seed, bool held_out = false) {
  return {.op = "synthetic",
          .columns = std::move(columns),
          .settings = {{"kind", std::vector<std::string>{"spoken_digits"}, {}},
                       {"rows", rows, {}},
                       {"seed", seed, {}},
                       {"held_out", held_out, {}}},
          .where = {}};
}

template <class T>
std::vector<T> elements(const Table& table, size_t i) {
  const Column& c = table.columns.at(i);
  std::vector<T> out(c.bytes.size() / sizeof(T));
  std::memcpy(out.data(), c.bytes.data(), c.bytes.size());
  return out;
}

std::vector<std::string> texts(const Table& table, size_t column) {
  std::vector<std::string> all;
  const std::vector<uint8_t> ids = elements<uint8_t>(table, column);
  for (size_t at = 0; at < ids.size(); at += 5) {
    std::string& text = all.emplace_back();
    for (size_t i = at; i < at + 5 && ids[i] > 0; ++i) text += static_cast<char>('0' + ids[i] - 1);
  }
  return all;
}

TEST(SpokenDigits, AreFunctionsOfSeedAndRow) {
  const auto draw = [](int64_t seed, int64_t rows) {
    return elements<float>(draw_table(request({column("log_mel", {kFrames, kBands})}, rows, seed)), 0);
  };
  const std::vector<float> few = draw(3, 4), more = draw(3, 6);
  EXPECT_TRUE(std::equal(few.begin(), few.end(), more.begin()));
  EXPECT_NE(few, draw(4, 4));
}

// What is held out is in no other row, and has two digits or more.
TEST(SpokenDigits, HoldSequencesOut) {
  const Table others = draw_table(request({column("text", {5}), column("length", {})}, 4000, 1));
  const Table held = draw_table(request({column("text", {5}), column("length", {})}, 1000, 2, /*held_out=*/true));
  const std::vector<std::string> all = texts(others, 0);
  const std::set<std::string> known(all.begin(), all.end());
  for (const std::string& text : texts(held, 0)) {
    EXPECT_GE(text.size(), 2U);
    EXPECT_FALSE(known.contains(text)) << text;
  }
  const std::vector<int32_t> lengths = elements<int32_t>(others, 1);
  EXPECT_EQ(std::set<int32_t>(lengths.begin(), lengths.end()), (std::set<int32_t>{1, 2, 3, 4, 5}));
}

// Rows as long as the model's hold all that is spoken.
TEST(SpokenDigits, FitTheirRows) {
  for (const int32_t frames : elements<int32_t>(draw_table(request({column("frames", {})}, 10'000, 1)), 0))
    EXPECT_LE(frames, kFrames);
}

// What follows the last frame is silence, and there is noise in every frame.
TEST(SpokenDigits, EndInSilence) {
  const Table table = draw_table(request({column("log_mel", {kFrames + 20, kBands}), column("frames", {})}, 50, 1));
  const std::vector<float> features = elements<float>(table, 0);
  const std::vector<int32_t> frames = elements<int32_t>(table, 1);
  const auto silence = static_cast<float>(std::log(1e-5));
  for (size_t row = 0; row < frames.size(); ++row) {
    const size_t end = ((row * (kFrames + 20)) + static_cast<size_t>(frames[row])) * kBands;
    EXPECT_NE(features[end - 1], silence);
    EXPECT_EQ(features[end], silence);
  }
}

// The file holds row 0 of the seed 9, as libsndfile wrote it.
TEST(SpokenDigits, AreReadFromFilesAsTheyAreDrawn) {
  const Table table = draw_table(request(
      {column("samples", {kSamples}), column("frames", {}), column("text", {5}), column("log_mel", {kFrames, kBands})},
      1, 9));
  const int32_t size = elements<int32_t>(table, 1).at(0);
  const std::vector<float> drawn = elements<float>(table, 0);
  const auto path = heddle::testing::source_dir() / "tests/unit/Inputs/spoken_digits.wav";
  const Sound sound = read_sound(path, "spoken_digits.wav", {}, {.rate = 8000, .most = kSamples});
  ASSERT_EQ(sound.size, size);
  for (size_t t = 0; t < sound.samples.size(); ++t)
    ASSERT_NEAR(sound.samples[t], drawn[t], 1.5 / 32768) << t;  // the last bit is that of the machine's sines
}

TEST(SpokenDigits, RefuseOtherSizes) {
  const auto error_of = [](const ColumnRequest& c) -> std::string {
    try {
      draw_table(request({c}, 1, 1));
    } catch (const UserError& error) {
      return error.diagnostics().at(0).message;
    }
    return "no error";
  };
  EXPECT_EQ(error_of(column("log_mel", {kFrames})), "\"log_mel\" is a row [frames, bands], input 'log_mel' has [96]");
  EXPECT_EQ(error_of(column("samples", {1'000'000})),
            "a spoken row is longer than a minute: at most five digits are spoken");
  EXPECT_EQ(error_of(column("frames", {2})),
            "\"frames\" of synthetic spoken_digits is one number a row, input 'frames' has [2]");
}

}  // namespace
}  // namespace heddle::runtime::data
