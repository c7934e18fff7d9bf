// Maps of pictures: what a step gets is what the maps, applied one after another to the whole
// picture, make of it, with numbers that depend on seed, epoch, row and the map's place alone.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <set>

#include "tests/support/fed_rows.h"
#include "tests/support/philox.h"

namespace heddle::runtime {
namespace {

using ir::data_map;
using ir::DataMap;
using ir::FedColumn;
using Maps = std::vector<DataMap>;

constexpr int kHeight = 6, kWidth = 8, kRows = 12, kBatch = 4;

std::array<uint32_t, 4> words_of(Draws d, uint64_t row, uint64_t map) {
  const auto low = [](uint64_t v) { return static_cast<uint32_t>(v); };
  const auto high = [](uint64_t v) { return static_cast<uint32_t>(v >> 32); };
  const uint64_t stream = 0x706963747572, group = row * 64 + map;
  return testing::philox({low(group), high(group), low(d.epoch), high(d.epoch)}, low(d.seed) ^ high(d.seed),
                         low(stream) ^ high(stream));
}
int below(uint32_t word, int n) { return static_cast<int>(uint64_t{word} * static_cast<uint64_t>(n) >> 32); }

// One channel after another, whatever the layout in memory.
struct Picture {
  int height = kHeight, width = kWidth, channels = 1;
  bool first = false;
  std::vector<float> v;
  float& at(int y, int x, int c) {
    const int i = first ? (c * height + y) * width + x : (y * width + x) * channels + c;
    return v[static_cast<size_t>(i)];
  }
  template <class F>
  void each(const F& f) {
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x)
        for (int c = 0; c < channels; ++c) f(y, x, c);
  }
};

// The picture moved down and right, `fill` where nothing comes from.
void move(Picture& p, int down, int right, float fill) {
  Picture old = p;
  p.each([&](int y, int x, int c) {
    const int fy = y - down, fx = x - right;
    p.at(y, x, c) = fy >= 0 && fy < p.height && fx >= 0 && fx < p.width ? old.at(fy, fx, c) : fill;
  });
}

void apply(const DataMap& map, const std::array<uint32_t, 4>& w, Picture& p) {
  const std::string& op = map.def->name;
  const auto whole = [&](const char* key, size_t i) { return static_cast<int>(map.integer(key, i)); };
  const auto channel = [&](const char* key, int c) {
    const std::vector<double>& all = map.all(key);
    return static_cast<float>(all.size() == 1 ? all[0] : all[static_cast<size_t>(c)]);
  };
  const float fill = map.has("fill") ? static_cast<float>(map.number("fill")) : 0;
  Picture old = p;
  if (op == "scale") {
    p.each([&](int y, int x, int c) { p.at(y, x, c) *= channel("by", c); });
  } else if (op == "shift") {
    p.each([&](int y, int x, int c) { p.at(y, x, c) += channel("by", c); });
  } else if (op == "normalize") {
    p.each([&](int y, int x, int c) {
      p.at(y, x, c) =
          (p.at(y, x, c) - channel("mean", c)) * static_cast<float>(1 / static_cast<double>(channel("std", c)));
    });
  } else if (op == "flip") {
    if (static_cast<float>(w[0] >> 8) * 0x1p-24F < static_cast<float>(map.number("probability")))
      p.each([&](int y, int x, int c) { p.at(y, x, c) = old.at(y, p.width - 1 - x, c); });
  } else if (op == "crop") {
    // The window of the padded picture that begins in one of (2 h + 1) (2 w + 1) places.
    const int h = whole("pad", 0), width = whole("pad", 1);
    move(p, h - below(w[0], 2 * h + 1), width - below(w[1], 2 * width + 1), fill);
  } else if (op == "cutout") {
    const int h = whole("size", 0), width = whole("size", 1);
    const int top = below(w[0], p.height) - h / 2, left = below(w[1], p.width) - width / 2;
    for (int y = std::max(0, top); y < std::min(p.height, top + h); ++y)
      for (int x = std::max(0, left); x < std::min(p.width, left + width); ++x)
        for (int c = 0; c < p.channels; ++c) p.at(y, x, c) = fill;
  } else if (op == "pad") {
    p.height += whole("pad", 0) + whole("pad", 1), p.width += whole("pad", 2) + whole("pad", 3);
    p.v.assign(static_cast<size_t>(p.height * p.width * p.channels), fill);
    old.each([&](int y, int x, int c) { p.at(y + whole("pad", 0), x + whole("pad", 2), c) = old.at(y, x, c); });
  } else {
    FAIL() << op << " has no reference";
  }
}

codegen::Program program_of(const std::string& type, const FedColumn& spec, const std::string& entry) {
  return testing::fed_program(type, spec, entry);
}

data::Table pictures(int channels) {
  data::Column c{.input = "x", .type = data::ElementType::u8, .dims = {kHeight * kWidth * channels}};
  for (int i = 0; i < kRows * kHeight * kWidth * channels; ++i) c.bytes.push_back(static_cast<std::byte>(i * 29 % 256));
  return {.rows = kRows, .columns = {c}};
}

// The batches of one epoch, one after another.
std::vector<float> run(const codegen::Program& program, const std::string& entry, const data::Table& table,
                       const std::vector<uint32_t>& order, Draws draws, int64_t resident) {
  return testing::fed_rows(program, entry, table, order, draws, {.batch = kBatch, .resident = resident});
}

std::vector<float> expected(const Maps& maps, int channels, bool first, const data::Table& table,
                            const std::vector<uint32_t>& order, Draws draws) {
  std::vector<float> all;
  const size_t elements = size_t{kHeight} * kWidth * static_cast<size_t>(channels);
  for (const uint32_t row : order) {
    Picture p{.channels = channels, .first = first, .v = {}};
    for (size_t i = 0; i < elements; ++i)
      p.v.push_back(static_cast<float>(std::to_integer<int>(table.columns[0].bytes[row * elements + i])));
    for (size_t m = 0; m < maps.size(); ++m) apply(maps[m], words_of(draws, row, m), p);
    all.insert(all.end(), p.v.begin(), p.v.end());
  }
  return all;
}

DataMap flip(double probability) { return data_map("flip", {{"probability", {probability}}}); }
DataMap crop(double height, double width, double fill) {
  return data_map("crop", {{"pad", {height, width}}, {"fill", {fill}}});
}
DataMap cutout(double height, double width, double fill) {
  return data_map("cutout", {{"size", {height, width}}, {"fill", {fill}}});
}
const Maps kAffine = {data_map("scale", {{"by", {0.5}}}), data_map("shift", {{"by", {3}}})};

Maps joined(std::initializer_list<Maps> parts) {
  Maps all;
  for (const Maps& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

std::vector<uint32_t> some_order() {
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < kRows; ++i) order.push_back(i * 7 % kRows);
  return order;
}

TEST(FeedMap, MapsActOneAfterAnother) {
  const std::vector<Maps> lists = {
      {flip(0.5)},
      {crop(2, 3, 0)},
      joined({{crop(6, 1, 9)}, kAffine}),
      joined({kAffine, {cutout(3, 4, -1)}}),
      joined({{cutout(2, 5, 200), crop(1, 2, 7)}, kAffine, {flip(0.7), cutout(1, 8, 0.25)}})};
  const Draws draws{.seed = (uint64_t{1} << 40) + 11, .epoch = 3};
  for (const int channels : {1, 3})
    for (const bool first : {false, true})
      for (const Maps& maps : lists) {
        const data::Table table = pictures(channels);
        const FedColumn spec{
            .input = "x", .stored = ir::DType::u8, .maps = maps, .channels_first = first && channels > 1};
        const std::string type = channels == 1 ? "f32[4,6,8]" : first ? "f32[4,3,6,8]" : "f32[4,6,8,3]";
        const codegen::Program program = program_of(type, spec, "train");
        const std::vector<float> wanted = expected(maps, channels, first && channels > 1, table, some_order(), draws);
        for (const int64_t resident : {int64_t{1} << 30, int64_t{1}})  // as it lies, and streamed
          ASSERT_EQ(run(program, "train", table, some_order(), draws, resident), wanted) << type << " " << maps.size();
      }
}

// A border makes pictures larger, in evaluations too; maps before it see the file's pictures, those
// behind it the input's.
TEST(FeedMap, PaddedPicturesLieInTheirBorder) {
  const DataMap pad = data_map("pad", {{"pad", {1, 2, 3, 0}}, {"fill", {5}}});
  const std::vector<Maps> lists = {
      {pad},
      joined({kAffine, {pad, data_map("pad", {{"pad", {0, 1, 0, 1}}, {"fill", {0}}})}}),
      joined({{flip(0.5), crop(2, 1, 8), pad, flip(0.5), crop(1, 4, 6), cutout(4, 4, 1)}, kAffine})};
  const Draws draws{.seed = 3, .epoch = 1};
  for (const int channels : {1, 3})
    for (const bool first : {false, true})
      for (const Maps& maps : lists) {
        const bool twice = maps.size() == 4;
        const std::string sides = twice ? "10,12" : "9,11";
        const std::string type = channels == 1 ? "f32[4," + sides + "]"
                                 : first       ? "f32[4,3," + sides + "]"
                                               : "f32[4," + sides + ",3]";
        const bool planes = first && channels > 1;
        const FedColumn spec{.input = "x", .stored = ir::DType::u8, .maps = maps, .channels_first = planes};
        const data::Table table = pictures(channels);
        const std::vector<float> wanted = expected(maps, channels, planes, table, some_order(), draws);
        for (const int64_t resident : {int64_t{1} << 30, int64_t{1}})
          ASSERT_EQ(run(program_of(type, spec, "train"), "train", table, some_order(), draws, resident), wanted)
              << type;
        Maps still;
        for (const DataMap& map : maps)
          if (!map.def->training) still.push_back(map);
        ASSERT_EQ(run(program_of(type, spec, "eval"), "eval", table, some_order(), draws, 1 << 30),
                  expected(still, channels, planes, table, some_order(), draws))
            << type;
      }
}

// Numbers of each channel, wherever the channels lie.
TEST(FeedMap, NumbersBelongToChannels) {
  const Maps maps = {data_map("normalize", {{"mean", {10, 20, 30}}, {"std", {2, 4, 8}}}),
                     data_map("normalize", {{"mean", {1, 2, 3}}, {"std", {4}}}),  // one deviation for all channels
                     data_map("scale", {{"by", {1, 2, 3}}}), data_map("shift", {{"by", {-1, 0, 1}}})};
  for (const bool first : {false, true}) {
    const FedColumn spec{.input = "x", .stored = ir::DType::u8, .maps = maps, .channels_first = first};
    const data::Table table = pictures(3);
    EXPECT_EQ(run(program_of(first ? "f32[4,3,6,8]" : "f32[4,6,8,3]", spec, "eval"), "eval", table, some_order(), {},
                  1 << 30),
              expected(maps, 3, first, table, some_order(), {}));
  }
}

// Nothing happens to what is evaluated; another seed, epoch and row draw something else.
TEST(FeedMap, OnlyTrainingDrawsAndEachEpochAnew) {
  const Maps maps = {crop(3, 4, 0)};
  const FedColumn spec{.input = "x", .stored = ir::DType::u8, .maps = maps};
  const data::Table table = pictures(3);
  const codegen::Program eval = program_of("f32[4,6,8,3]", spec, "eval"),
                         train = program_of("f32[4,6,8,3]", spec, "train");
  const std::vector<float> plain = expected({}, 3, false, table, some_order(), {});
  EXPECT_EQ(run(eval, "eval", table, some_order(), {.seed = 1, .epoch = 2}, 1 << 30), plain);
  std::set<std::vector<float>> different = {plain};
  for (const Draws d : {Draws{0, 0}, Draws{1, 0}, Draws{0, 1}, Draws{uint64_t{1} << 33, 0}})
    different.insert(run(train, "train", table, some_order(), d, 1 << 30));
  EXPECT_EQ(different.size(), 5U);
}

// Of many draws all shifts come up, about equally often, and flips as often as asked for.
TEST(FeedMap, DrawsAreSpreadEvenly) {
  int shifts[5] = {}, flips = 0;
  constexpr int kDraws = 10'000;
  for (uint64_t row = 0; row < kDraws; ++row) {
    const auto w = words_of({.seed = 5, .epoch = 1}, row, 0);
    ++shifts[below(w[0], 5)];
    flips += static_cast<float>(w[1] >> 8) * 0x1p-24F < 0.3F ? 1 : 0;
  }
  for (const int n : shifts) EXPECT_NEAR(n, kDraws * 0.2, 200);  // five standard deviations
  EXPECT_NEAR(flips, 3000, 230);
}

}  // namespace
}  // namespace heddle::runtime
