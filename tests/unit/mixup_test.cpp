// mixup: each row of a batch is m times itself and 1 - m times the one before it, the same m for
// the picture and for its label.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

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
using ir::FedColumn;

constexpr int kRows = 24, kElements = 12, kClasses = 5;

struct Batches {
  std::vector<float> x, label;  // of all steps
};

// Rows of a ramp, and their classes, in batches of `batch`; `repeats` steps are one submission.
struct Options {
  std::string entry = "train", type = "f32";
  int batch = 8, threads = 2, repeats = 1, rows = kRows;
  int64_t resident = 1 << 30;
  double alpha = 0.4;
  std::vector<ir::DataMap> before = {}, behind = {};
  Draws draws = {.seed = 7, .epoch = 2};
};

codegen::Program program_of(const Options& o) {
  const std::string n = std::to_string(o.batch);
  const std::string text = "graph @" + o.entry + "(input %x: " + o.type + "[" + n + ",3,4], input %label: f32[" + n +
                           ",5], state %all: f32[" + n + ",3,4]) {\n  %real: f32[" + n +
                           ",3,4] = cast(%x) {dtype = \"f32\"}\n  %next: f32[" + n + ",3,4] = add(%all, %real)\n" +
                           "  %loss: f32[] = reduce_sum(%label) {axes = [0,1]}\n  update %all <- %next\n" +
                           "  return %loss, %real, %label, %next\n}\n";
  const SourceFile source{"mixup.hir", text};
  ir::Module m = ir::parse(source);
  std::vector<ir::DataMap> maps = o.before;
  maps.push_back(data_map("mixup", {{"alpha", {o.alpha}}}));
  maps.insert(maps.end(), o.behind.begin(), o.behind.end());
  passes::Options options = testing::host_options();
  options.columns = {
      {.input = "x", .stored = ir::DType::u8, .maps = maps},
      {.input = "label", .stored = ir::DType::u8, .maps = {data_map("mixup", {{"alpha", {o.alpha}}})}, .classes = 5}};
  passes::run_pipeline(m, options);
  return codegen::lower(m, "mixup", ir::host());
}

data::Table table_of(int rows) {
  data::Column x{.input = "x", .type = data::ElementType::u8, .dims = {3, 4}},
      label{.input = "label", .type = data::ElementType::u8, .dims = {}};
  for (int i = 0; i < rows * kElements; ++i) x.bytes.push_back(static_cast<std::byte>(i * 7 % 251));
  for (int i = 0; i < rows; ++i) label.bytes.push_back(static_cast<std::byte>(i % kClasses));
  return {.rows = rows, .columns = {x, label}};
}

std::vector<uint32_t> order_of(int rows) {
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < static_cast<uint32_t>(rows); ++i)
    order.push_back(i * 7 % static_cast<uint32_t>(rows));  // 7 divides no number of rows here
  return order;
}

Batches run(const Options& o) {
  const codegen::Program program = program_of(o);
  HostDevice device({.threads = o.threads, .kernel_cache = {}});
  Executable executable(program, device);
  Feed feed(executable, {.resident_bytes = o.resident});
  const codegen::Entry& e = *program.find_entry(ir::entry_kind(o.entry));
  const data::Table table = table_of(o.rows);
  const std::vector<uint32_t> order = order_of(o.rows);
  feed.begin(table, order, o.draws);
  Batches all;
  const auto append = [&](size_t output, std::vector<float>& to) {
    std::vector<float> values(static_cast<size_t>(e.outputs.at(output).bytes) / 4);
    executable.read(e.outputs.at(output), values.data());
    to.insert(to.end(), values.begin(), values.end());
  };
  for (int step = 0; step < o.rows / o.batch; step += o.repeats) {
    feed.provide(int64_t{o.batch} * o.repeats);
    executable.wait(executable.submit(e, o.repeats));
    append(1, all.x), append(2, all.label);
  }
  append(3, all.x);  // the sum of all batches
  feed.take(o.rows / o.batch);
  return all;
}

// Philox's words for a row's mixing, and a number of beta(alpha, alpha) from them, in double precision by Bailey's t.
double mix_of(const Options& o, uint64_t row) {
  const uint64_t stream = 0x706963747572, group = row * 64 + 63;
  const auto low = [](uint64_t v) { return static_cast<uint32_t>(v); };
  const auto high = [](uint64_t v) { return static_cast<uint32_t>(v >> 32); };
  const auto c = testing::philox({low(group), high(group), low(o.draws.epoch), high(o.draws.epoch)},
                                 low(o.draws.seed) ^ high(o.draws.seed), low(stream) ^ high(stream));
  const double u = (c[0] >> 8) * 0x1p-24 + 0x1p-25, v = (c[1] >> 8) * 0x1p-24;
  const double degrees = 2 * o.alpha;
  const double t = std::sqrt(degrees * (std::pow(u, -2 / degrees) - 1)) * std::cos(2 * 3.14159265358979323846 * v);
  return std::isinf(t) ? (t > 0 ? 1 : 0) : 0.5 + 0.5 * t / std::sqrt(degrees + t * t);
}

// What the list before the mixing makes of a row: here only values and a turned picture.
std::vector<double> prepared(const Options& o, const data::Table& table, uint32_t row) {
  std::vector<double> v;
  for (int i = 0; i < kElements; ++i)
    v.push_back(std::to_integer<int>(table.columns[0].bytes[row * kElements + static_cast<uint32_t>(i)]));
  for (const ir::DataMap& map : o.before) {
    if (map.def->name == "scale")
      for (double& e : v) e *= map.number("by");
    if (map.def->name == "flip")  // always
      for (size_t y = 0; y < 3; ++y)
        std::reverse(v.begin() + static_cast<long>(y) * 4, v.begin() + static_cast<long>(y + 1) * 4);
  }
  return v;
}

// A power of 1 / alpha makes what rounds the logarithm 1 / alpha times as large.
double tolerance(const Options& o) { return 2e-6 * std::max(1.0, 1 / o.alpha); }

void expect_mixed(const Options& o) {
  const Batches got = run(o);
  const data::Table table = table_of(o.rows);
  const std::vector<uint32_t> order = order_of(o.rows);
  for (int i = 0; i < o.rows / o.batch * o.batch; ++i) {
    const int first = i / o.batch * o.batch, other = i == first ? first + o.batch - 1 : i - 1;
    const uint32_t row = order[static_cast<size_t>(i)], partner = order[static_cast<size_t>(other)];
    const double m = mix_of(o, row);
    const auto a = prepared(o, table, row), b = prepared(o, table, partner);
    for (size_t k = 0; k < kElements; ++k) {
      double wanted = m * a[k] + (1 - m) * b[k];
      for (const ir::DataMap& map : o.behind) wanted += map.number("by");
      ASSERT_NEAR(got.x[static_cast<size_t>(i) * kElements + k], wanted, 256 * tolerance(o))
          << "row " << i << " element " << k;
    }
    for (uint32_t c = 0; c < kClasses; ++c)
      ASSERT_NEAR(got.label[static_cast<size_t>(i) * kClasses + c],
                  m * (row % kClasses == c) + (1 - m) * (partner % kClasses == c), tolerance(o));
  }
}

TEST(Mixup, MixesRowsAndTheirLabelsByOneNumber) {
  for (const double alpha : {0.01, 0.2, 1.0, 8.0}) expect_mixed({.alpha = alpha});
}

// What stands before it in the list happens to both rows, what stands behind it to the mixture.
TEST(Mixup, StandsAtItsPlaceInTheList) {
  expect_mixed({.before = {data_map("scale", {{"by", {0.25}}})}, .behind = {data_map("shift", {{"by", {-3}}})}});
  expect_mixed({.before = {data_map("flip", {{"probability", {1}}}), data_map("scale", {{"by", {0.5}}})}});
}

TEST(Mixup, ARowAloneStaysItself) {
  const Options o{.batch = 1};
  const Batches got = run(o);
  const data::Table table = table_of(o.rows);
  for (size_t i = 0; i < kRows; ++i)
    for (size_t k = 0; k < kElements; ++k)
      ASSERT_NEAR(got.x[i * kElements + k],
                  std::to_integer<int>(table.columns[0].bytes[order_of(kRows)[i] * kElements + k]), 1e-4);
}

// The bits depend neither on threads nor on where rows lie nor on how many steps are submitted at once.
TEST(Mixup, TheBitsAreAlwaysTheSame) {
  constexpr int kSteps = 64;
  const Batches wanted = run({.rows = 8 * kSteps});
  const size_t sum = wanted.x.size() - 8 * kElements;
  for (const int threads : {1, 3})
    for (const int repeats : {1, 8, 64})
      for (const int64_t resident : {int64_t{1}, int64_t{1} << 30}) {
        if (repeats > 1 && resident == 1) continue;  // a chunk holds a batch
        const Batches got = run({.threads = threads, .repeats = repeats, .rows = 8 * kSteps, .resident = resident});
        ASSERT_TRUE(std::equal(wanted.x.begin() + static_cast<long>(sum), wanted.x.end(), got.x.end() - 8 * kElements));
        if (repeats == 1) {
          ASSERT_EQ(got.label, wanted.label);
        }
      }
}

TEST(Mixup, EvaluationsDoNotSeeIt) {
  const Options o{.entry = "eval"};
  const Batches got = run(o);
  const data::Table table = table_of(o.rows);
  for (size_t i = 0; i < kRows * kElements; ++i)
    ASSERT_EQ(got.x[i],
              std::to_integer<int>(table.columns[0].bytes[order_of(kRows)[i / kElements] * kElements + i % kElements]));
}

// Mean 1/2 and variance 1 / (4 (2 alpha + 1)), by the numbers that the kernel is held to above.
TEST(Mixup, NumbersAreOfTheBetaDistribution) {
  for (const double alpha : {0.2, 1.0, 5.0}) {
    constexpr int kDraws = 40'000;
    double sum = 0, squares = 0, tail = 0;
    for (uint64_t row = 0; row < kDraws; ++row) {
      const double m = mix_of({.alpha = alpha}, row);
      sum += m, squares += (m - 0.5) * (m - 0.5), tail += m < 0.25 ? 1 : 0;
    }
    const double variance = 1 / (4 * (2 * alpha + 1));
    EXPECT_NEAR(sum / kDraws, 0.5, 5 * std::sqrt(variance / kDraws));
    EXPECT_NEAR(squares / kDraws, variance, 0.02 * variance + 0.0005);
    if (alpha == 1.0) {
      EXPECT_NEAR(tail / kDraws, 0.25, 0.011);  // five standard deviations
    }
  }
}

}  // namespace
}  // namespace heddle::runtime
