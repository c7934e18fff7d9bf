// cutmix: a rectangle of a picture is that of the row before it in the batch, and its label is the mean of both, each as
// much as its pixels. The rectangle is computed here from the paper's words and torchvision's.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "codegen/lower.h"
#include "ir/text/parse.h"
#include "passes/pipeline.h"
#include "runtime/feed.h"
#include "runtime/host/host_device.h"
#include "tests/support/host_run.h"
#include "tests/support/philox.h"

namespace heddle::runtime {
namespace {

using ir::data_map;

constexpr int kRows = 60, kHeight = 6, kWidth = 9, kElements = kHeight * kWidth, kClasses = 5, kBatch = 12;
constexpr uint64_t kSeed = 7, kEpoch = 2;

struct Options {
  std::string entry = "train";
  double alpha = 1;
  std::vector<ir::DataMap> before = {};
  bool samples = false;  // behind a map that makes a pixel of several ones, the text is another
};
struct Batches {
  std::vector<float> picture, label;
};

ir::DataMap cutmix(double alpha) { return data_map("cutmix", {{"alpha", {alpha}}, {"size", {kHeight, kWidth}}}); }

Batches run(const Options& o) {
  const SourceFile source{"cutmix.hir",
                          "graph @" + o.entry +
                              "(input %x: f32[12,6,9], input %label: f32[12,5], state %s: f32[12,6,9]) {\n"
                              "  %next: f32[12,6,9] = add(%s, %x)\n  %loss: f32[] = reduce_sum(%label) {axes = [0,1]}\n"
                              "  update %s <- %next\n  return %loss, %x, %label\n}\n"};
  ir::Module m = ir::parse(source);
  passes::Options options = testing::host_options();
  std::vector<ir::DataMap> maps = o.before;
  if (o.samples) maps.push_back(data_map("rotate", {{"degrees", {0}}}));
  maps.push_back(cutmix(o.alpha));
  options.columns = {
      {.input = "x", .stored = ir::DType::u8, .maps = maps},
      {.input = "label", .stored = ir::DType::u8, .maps = {cutmix(o.alpha)}, .classes = kClasses}};
  passes::run_pipeline(m, options);
  const codegen::Program program = codegen::lower(m, "cutmix", ir::host());
  HostDevice device({.threads = 2, .kernel_cache = {}});
  Executable executable(program, device);
  Feed feed(executable, {});
  data::Column x{.input = "x", .type = data::ElementType::u8, .dims = {kHeight, kWidth}},
      label{.input = "label", .type = data::ElementType::u8, .dims = {}};
  for (int i = 0; i < kRows * kElements; ++i) x.bytes.push_back(static_cast<std::byte>(i * 7 % 251));
  for (int i = 0; i < kRows; ++i) label.bytes.push_back(static_cast<std::byte>(i % kClasses));
  const data::Table table{.rows = kRows, .columns = {x, label}};
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < kRows; ++i) order.push_back(i * 7 % kRows);
  feed.begin(table, order, {.seed = kSeed, .epoch = kEpoch});
  const codegen::Entry& e = *program.find_entry(ir::entry_kind(o.entry));
  Batches all;
  for (int step = 0; step < kRows / kBatch; ++step) {
    feed.provide(kBatch);
    executable.wait(executable.submit(e, 1));
    for (auto [output, to] : {std::pair{1, &all.picture}, std::pair{2, &all.label}}) {
      std::vector<float> values(static_cast<size_t>(e.outputs.at(static_cast<size_t>(output)).bytes) / 4);
      executable.read(e.outputs.at(static_cast<size_t>(output)), values.data());
      to->insert(to->end(), values.begin(), values.end());
    }
  }
  feed.take(kRows / kBatch);
  return all;
}

struct Rectangle {
  int top, bottom, left, right;
  bool has(int y, int x) const { return y >= top && y < bottom && x >= left && x < right; }
  double share() const { return double(bottom - top) * (right - left) / kElements; }
};

// The words of a row's mixing; the first two make m as mixup's test says.
Rectangle rectangle_of(double alpha, uint64_t row) {
  const uint64_t stream = 0x706963747572, group = row * 64 + 63;
  const auto low = [](uint64_t v) { return static_cast<uint32_t>(v); };
  const auto high = [](uint64_t v) { return static_cast<uint32_t>(v >> 32); };
  const auto c = testing::philox({low(group), high(group), low(kEpoch), high(kEpoch)}, low(kSeed) ^ high(kSeed),
                                 low(stream) ^ high(stream));
  const double u = (c[0] >> 8) * 0x1p-24 + 0x1p-25, v = (c[1] >> 8) * 0x1p-24, degrees = 2 * alpha;
  const double t = std::sqrt(degrees * (std::pow(u, -2 / degrees) - 1)) * std::cos(2 * 3.14159265358979323846 * v);
  const double keep = std::isinf(t) ? (t > 0 ? 1 : 0) : 0.5 + 0.5 * t / std::sqrt(degrees + t * t);
  const double reach = 0.5 * std::sqrt(1 - keep);
  const int half_height = static_cast<int>(reach * kHeight), half_width = static_cast<int>(reach * kWidth);
  const int y = static_cast<int>(uint64_t{c[2]} * kHeight >> 32), x = static_cast<int>(uint64_t{c[3]} * kWidth >> 32);
  return {std::max(y - half_height, 0), std::min(y + half_height, kHeight), std::max(x - half_width, 0),
          std::min(x + half_width, kWidth)};
}

float pixel(const Options& o, uint32_t row, int y, int x) {
  float factor = 1;
  for (const ir::DataMap& map : o.before) {
    if (map.def->name == "flip") x = kWidth - 1 - x;  // always
    if (map.def->name == "scale") factor = static_cast<float>(map.number("by"));
  }
  return factor * static_cast<float>((static_cast<int>(row) * kElements + y * kWidth + x) * 7 % 251);
}

void expect_cut(const Options& o) {
  const Batches got = run(o);
  int moved = 0;
  for (int i = 0; i < kRows; ++i) {
    const int first = i / kBatch * kBatch, other = i == first ? first + kBatch - 1 : i - 1;
    const auto row = static_cast<uint32_t>(i * 7 % kRows), partner = static_cast<uint32_t>(other * 7 % kRows);
    const Rectangle cut = rectangle_of(o.alpha, row);
    for (int e = 0; e < kElements; ++e) {
      const bool inside = cut.has(e / kWidth, e % kWidth);
      moved += inside ? 1 : 0;
      ASSERT_EQ(got.picture[static_cast<size_t>(i * kElements + e)],
                pixel(o, inside ? partner : row, e / kWidth, e % kWidth))
          << "row " << i << " element " << e;
    }
    for (uint32_t c = 0; c < kClasses; ++c)
      ASSERT_NEAR(got.label[static_cast<size_t>(i) * kClasses + c],
                  (1 - cut.share()) * (row % kClasses == c) + cut.share() * (partner % kClasses == c), 1e-6);
  }
  EXPECT_GT(moved, kRows * kElements / 20);
}

TEST(Cutmix, CutsPicturesAndMixesLabelsByTheirPixels) {
  for (const double alpha : {0.2, 1.0, 4.0}) expect_cut({.alpha = alpha});
}

// What stands before it in the list happens to both pictures; a rotation by nothing makes each pixel of several ones.
TEST(Cutmix, StandsAtItsPlaceInTheList) {
  expect_cut({.before = {data_map("flip", {{"probability", {1}}}), data_map("scale", {{"by", {0.5}}})}});
  expect_cut({.before = {data_map("flip", {{"probability", {1}}})}, .samples = true});
}

TEST(Cutmix, EvaluationsDoNotSeeIt) {
  const Options o{.entry = "eval"};
  const Batches got = run(o);
  for (int i = 0; i < kRows * kElements; ++i)
    ASSERT_EQ(got.picture[static_cast<size_t>(i)],
              pixel(o, static_cast<uint32_t>(i / kElements * 7 % kRows), i % kElements / kWidth, i % kWidth));
}

TEST(Cutmix, SaysWhatDoesNotFit) {
  const auto fault = [](ir::MapRow row) { return ir::map_fault({cutmix(1)}, 0, row); };
  EXPECT_EQ(fault({.dtype = ir::DType::f32, .dims = {6, 8}}), "'size' is 6 x 9, the pictures are 6 x 8");
  EXPECT_EQ(fault({.dtype = ir::DType::i32, .dims = {5}}),
            "a label is mixed in f32 or f64, behind one_hot, not in i32");
  EXPECT_EQ(fault({.dtype = ir::DType::i32, .dims = {6, 9}}), "");  // the classes of pixels
}

}  // namespace
}  // namespace heddle::runtime
