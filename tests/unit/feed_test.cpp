// Feed: rows of a table become the inputs of steps, and their losses come back, by the kernels' own text on the host.
#include "runtime/feed.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "codegen/lower.h"
#include "ir/text/parse.h"
#include "passes/pipeline.h"
#include "runtime/host/host_device.h"
#include "tests/support/host_run.h"

namespace heddle::runtime {
namespace {

using data::Column;
using data::ElementType;
using ir::data_map;
using ir::DType;
using ir::FedColumn;

template <class T>
Column column(ElementType type, std::vector<int64_t> dims, const std::vector<T>& values) {
  Column c{.input = "x", .type = type, .dims = std::move(dims), .bytes = {}};
  c.bytes.resize(values.size() * sizeof(T));
  std::memcpy(c.bytes.data(), values.data(), c.bytes.size());
  return c;
}

// A program whose entry @eval sums its input x, of `type`, and returns it too.
codegen::Program program_of(const std::string& type, const FedColumn& spec) {
  std::string axes = "[0";
  for (int64_t i = 1; i <= std::ranges::count(type, ','); ++i) axes += "," + std::to_string(i);
  const std::string real = type.starts_with("f") ? type : "f32" + type.substr(type.find('['));
  const std::string text = "graph @eval(input %x: " + type + ") {\n  %r: " + real + " = cast(%x) {dtype = \"" +
                           real.substr(0, real.find('[')) + "\"}\n  %loss: " + real.substr(0, real.find('[')) +
                           "[] = reduce_sum(%r) {axes = " + axes + "]}\n  return %loss, %x\n}\n";
  const SourceFile source{"feed.hir", text};
  ir::Module m = ir::parse(source);
  passes::Options options = testing::host_options();
  options.columns = {spec};
  passes::run_pipeline(m, options);
  return codegen::lower(m, "fed", ir::host());
}

// What @eval's input holds after one step, and the step's record.
template <class T>
struct Batch {
  std::vector<T> x;
  StepRecord record;
};
template <class T>
Batch<T> run(const std::string& type, const FedColumn& spec, const data::Table& table,
             const std::vector<uint32_t>& order, FeedOptions options = {}) {
  const codegen::Program program = program_of(type, spec);
  HostDevice device({.threads = 2, .kernel_cache = {}});
  Executable executable(program, device);
  Feed feed(executable, std::move(options));
  const codegen::Entry& entry = *program.find_entry(ir::Phase::eval);
  feed.begin(table, order);
  feed.provide(entry.fed_rows);
  executable.wait(executable.submit(entry, 1));
  Batch<T> batch{std::vector<T>(static_cast<size_t>(entry.outputs.at(1).bytes) / sizeof(T)), feed.take(1).at(0)};
  executable.read(entry.outputs.at(1), batch.x.data());
  return batch;
}

TEST(Feed, ScalesRowsInTheOrderAskedFor) {
  const data::Table table{.rows = 3, .columns = {column<uint8_t>(ElementType::u8, {2}, {0, 51, 102, 255, 3, 4})}};
  const auto batch =
      run<float>("f32[2,2,1]", {"x", DType::u8, {data_map("scale", {{"by", {1 / 255.0}}})}}, table, {1, 0});
  EXPECT_EQ(batch.x, (std::vector<float>{102 * (1 / 255.0F), 255 * (1 / 255.0F), 0, 51 * (1 / 255.0F)}));
  EXPECT_FLOAT_EQ(static_cast<float>(batch.record.loss), 1.6F);
  EXPECT_EQ(batch.record.count, 2);  // no count is returned: all rows
  EXPECT_FALSE(batch.record.fault.has_value());
}

TEST(Feed, AppliesOneNumberPerChannelAndMapsInOrder) {
  const data::Table table{.rows = 1, .columns = {column<uint8_t>(ElementType::u8, {2, 2}, {1, 2, 3, 4})}};
  const FedColumn spec{
      "x",
      DType::u8,
      {data_map("scale", {{"by", {2, 10}}}), data_map("shift", {{"by", {1, 0}}}), data_map("shift", {{"by", {-1}}})}};
  // 1 * 2 + 1 - 1, 2 * 10 + 0 - 1, ...
  EXPECT_EQ(run<float>("f32[1,2,2]", spec, table, {}).x, (std::vector<float>{2, 19, 6, 39}));
}

TEST(Feed, MakesOneHotRowsAndIntegerLabels) {
  const data::Table table{.rows = 2, .columns = {column<uint8_t>(ElementType::u8, {}, {2, 0})}};
  const FedColumn one_hot{.input = "x", .stored = DType::u8, .maps = {}, .classes = 3};
  EXPECT_EQ(run<float>("f32[2,3]", one_hot, table, {}).x, (std::vector<float>{0, 0, 1, 1, 0, 0}));
  EXPECT_EQ(run<int32_t>("i32[2]", {"x", DType::u8, {}}, table, {1, 0}).x, (std::vector<int32_t>{0, 2}));
}

// Of a picture of classes each has a row of its own; maps come after: 0 becomes 0.1, 1 becomes 0.9.
TEST(Feed, MakesOneHotPicturesAndMapsThem) {
  const data::Table table{.rows = 2, .columns = {column<int32_t>(ElementType::i32, {2}, {2, 0, 1, 1})}};
  const FedColumn spec{.input = "x",
                       .stored = DType::i32,
                       .maps = {data_map("scale", {{"by", {0.75}}}), data_map("shift", {{"by", {0.125}}})},
                       .classes = 3};
  EXPECT_EQ(run<float>("f32[1,2,3]", spec, table, {1}).x,
            (std::vector<float>{0.125F, 0.875F, 0.125F, 0.125F, 0.875F, 0.125F}));
  EXPECT_EQ(run<double>("f64[1,2,3]", spec, table, {}).x,
            (std::vector<double>{0.125, 0.125, 0.875, 0.875, 0.125, 0.125}));
}

// Every type that a file stores into every type of input that it may feed, at the limits of both.
TEST(Feed, ConvertsEveryType) {
  const auto limits = [](auto zero) {
    using T = decltype(zero);
    return std::vector<T>{std::numeric_limits<T>::lowest(), std::numeric_limits<T>::max(), T{1}, T{100}};
  };
  for (const ElementType stored : {ElementType::u8, ElementType::i8, ElementType::i16, ElementType::i32,
                                   ElementType::i64, ElementType::f32, ElementType::f64})
    data::visit(stored, [&](auto zero) {
      using S = decltype(zero);
      const std::vector<S> values = limits(zero);
      const data::Table table{.rows = 1, .columns = {column<S>(stored, {4}, values)}};
      const FedColumn spec{"x", *ir::parse_dtype(data::to_string(stored)), {}};
      std::vector<float> f32;
      std::vector<double> f64;
      for (S v : values) f32.push_back(static_cast<float>(v)), f64.push_back(static_cast<double>(v));
      EXPECT_EQ(run<float>("f32[1,4]", spec, table, {}).x, f32) << data::to_string(stored);
      EXPECT_EQ(run<double>("f64[1,4]", spec, table, {}).x, f64) << data::to_string(stored);
      if constexpr (std::is_integral_v<S>) {
        const std::vector<int64_t> i64(values.begin(), values.end());
        EXPECT_EQ(run<int64_t>("i64[1,4]", spec, table, {}).x, i64) << data::to_string(stored);
      }
    });
}

TEST(Feed, NamesTheFirstRowThatIsNotFinite) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const FedColumn plain{"x", DType::f32, {}};
  const auto fault = [&](const std::vector<float>& values) {
    const data::Table table{.rows = 4, .columns = {column<float>(ElementType::f32, {2}, values)}};
    return run<float>("f32[4,2]", plain, table, {3, 2, 1, 0}).record.fault;
  };
  EXPECT_FALSE(fault({1, 2, 3, 4, 5, 6, 7, 8}).has_value());
  const auto first = fault({1, nan, 3, 4, 5, -inf, 7, 8});
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(first->input, "x");
  EXPECT_EQ(first->row, 1);  // the table's row 2 is the batch's row 1
  EXPECT_EQ(first->value, -inf);
  EXPECT_TRUE(std::isnan(fault({nan, 2, 3, 4, 5, 6, 7, 8})->value));
  // A map may make it so.
  const data::Table large{.rows = 1, .columns = {column<uint8_t>(ElementType::u8, {2}, {1, 200})}};
  EXPECT_EQ(
      run<float>("f32[1,2]", {"x", DType::u8, {data_map("scale", {{"by", {3e38}}})}}, large, {}).record.fault->value,
      inf);
}

// Wide rows, rows that no packet divides, more rows than blocks; resident and streamed.
TEST(Feed, StepsTakeTheRowsThatComeNext) {
  for (const int64_t elements : {1, 3, 4, 300, 2048})
    for (const int64_t resident : {int64_t{1}, int64_t{1} << 30}) {
      std::vector<int16_t> values;
      for (int64_t i = 0; i < 23 * elements; ++i) values.push_back(static_cast<int16_t>(i * 7919));
      const data::Table table{.rows = 23, .columns = {column<int16_t>(ElementType::i16, {elements}, values)}};
      std::vector<uint32_t> order;
      for (uint32_t i = 0; i < 23; ++i) order.push_back(i * 5 % 23);
      const codegen::Program program = program_of("f32[4," + std::to_string(elements) + "]",
                                                  {"x", DType::i16, {data_map("scale", {{"by", {0.5}}})}});
      HostDevice device({.threads = 2, .kernel_cache = {}});
      Executable executable(program, device);
      Feed feed(executable, {.resident_bytes = resident});
      const codegen::Entry& entry = *program.find_entry(ir::Phase::eval);
      feed.begin(table, order);
      for (size_t step = 0; step < 5; ++step) {
        feed.provide(4);
        executable.wait(executable.submit(entry, 1));
        std::vector<float> x(static_cast<size_t>(4 * elements));
        executable.read(entry.outputs.at(1), x.data());
        for (size_t r = 0; r < 4; ++r)
          for (size_t i = 0; i < static_cast<size_t>(elements); ++i)
            ASSERT_EQ(x[r * static_cast<size_t>(elements) + i],
                      0.5F * values[order[step * 4 + r] * static_cast<size_t>(elements) + i]);
      }
      const std::vector<StepRecord> records = feed.take(5);
      EXPECT_EQ(records.back().step, 4);
    }
}

// Of rows that are longer than the input's it has the first elements: packets or none, rows that a packet does not divide,
// one number for each element, classes, several axes; resident and streamed.
TEST(Feed, TakesTheFirstElementsOfLongerRows) {
  constexpr int64_t kRows = 9;
  const std::vector<uint32_t> order = {8, 0, 3, 5};
  for (const int64_t whole : {int64_t{1}, int64_t{8}, int64_t{10}, int64_t{300}})
    for (const int64_t taken : {int64_t{1}, int64_t{3}, int64_t{8}, int64_t{256}}) {
      if (taken > whole) continue;
      std::vector<uint8_t> values;
      for (int64_t i = 0; i < kRows * whole; ++i) values.push_back(static_cast<uint8_t>(i * 7 + 3));
      const data::Table table{.rows = kRows, .columns = {column<uint8_t>(ElementType::u8, {whole}, values)}};
      std::vector<float> wanted;
      for (const uint32_t row : order)
        for (int64_t i = 0; i < taken; ++i)
          wanted.push_back(0.5F * values[static_cast<size_t>(static_cast<int64_t>(row) * whole + i)]);
      const FedColumn spec{
          .input = "x", .stored = DType::u8, .maps = {data_map("scale", {{"by", {0.5}}})}, .stride = whole};
      const std::string type = "f32[4," + std::to_string(taken) + "]";
      EXPECT_EQ(run<float>(type, spec, table, order).x, wanted) << taken << " of " << whole;
      EXPECT_EQ(run<float>(type, spec, table, order, {.resident_bytes = 1}).x, wanted) << taken << " of " << whole;
    }
  const data::Table classes{.rows = 2, .columns = {column<uint8_t>(ElementType::u8, {3}, {2, 0, 1, 1, 2, 0})}};
  const FedColumn one_hot{.input = "x", .stored = DType::u8, .classes = 3, .stride = 3};
  EXPECT_EQ(run<float>("f32[2,2,3]", one_hot, classes, {1, 0}).x,
            (std::vector<float>{0, 1, 0, 0, 0, 1, 0, 0, 1, 1, 0, 0}));
  const data::Table pairs{.rows = 2, .columns = {column<int16_t>(ElementType::i16, {2, 2}, {1, 2, 3, 4, 5, 6, 7, 8})}};
  EXPECT_EQ(run<int32_t>("i32[2,1,2]", {.input = "x", .stored = DType::i16, .stride = 4}, pairs, {}).x,
            (std::vector<int32_t>{1, 2, 5, 6}));
}

// More steps than the ring holds, and a second table: records follow one another.
TEST(Feed, TheRingGoesRound) {
  codegen::Program program = program_of("f32[1,1]", {"x", DType::u8, {}});
  ASSERT_GT(program.feeding.records, 100);
  std::vector<uint8_t> values(200);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<uint8_t>(i);
  const data::Table table{.rows = 200, .columns = {column<uint8_t>(ElementType::u8, {1}, values)}};
  HostDevice device({.threads = 1, .kernel_cache = {}});
  Executable executable(program, device);
  Feed feed(executable);
  const codegen::Entry& entry = *program.find_entry(ir::Phase::eval);
  int64_t steps = 0;
  while (steps < 2 * program.feeding.records) {
    feed.begin(table, {});
    executable.wait(executable.submit(entry, 200));
    for (const StepRecord& r : feed.take(200)) {
      ASSERT_EQ(r.step, steps);
      ASSERT_EQ(r.loss, static_cast<double>(steps++ % 200));
    }
  }
}

}  // namespace
}  // namespace heddle::runtime
