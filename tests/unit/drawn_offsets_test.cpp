// Windows at drawn offsets: where each begins in an epoch, and that all its elements and all inputs agree.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <set>

#include "codegen/lower.h"
#include "ir/text/parse.h"
#include "passes/pipeline.h"
#include "runtime/data/shuffle.h"
#include "runtime/feed.h"
#include "runtime/host/host_device.h"
#include "tests/support/host_run.h"

namespace heddle::runtime {
namespace {

using Ids = std::vector<int32_t>;
constexpr int kLength = 8, kRows = 12, kBatch = 4;

// Element i of the stream is i; the targets follow it.
data::Table counting(bool drawn) {
  data::Table table{.rows = kRows, .columns = {}, .notes = {}, .drawn_offsets = drawn};
  for (int next = 0; next < 2; ++next) {
    data::Column c{.input = next == 0 ? "x" : "y", .type = data::ElementType::i16, .dims = {kLength}};
    for (int i = 0; i < kRows * kLength; ++i) {
      const auto value = static_cast<int16_t>(i + next);
      c.bytes.resize(c.bytes.size() + 2);
      std::memcpy(c.bytes.data() + 2 * i, &value, 2);
    }
    table.columns.push_back(std::move(c));
  }
  return table;
}

codegen::Program program() {
  const SourceFile source{"feed.hir", R"(graph @train(input %x: i32[4,8], input %y: i32[4,8]) {
  %a: i32[4,8] = add(%x, %y)
  %r: f32[4,8] = cast(%a) {dtype = "f32"}
  %loss: f32[] = reduce_sum(%r) {axes = [0,1]}
  return %loss, %x, %y
}
)"};
  ir::Module m = ir::parse(source);
  passes::Options options = testing::host_options();
  options.columns = {{.input = "x", .stored = ir::DType::i16}, {.input = "y", .stored = ir::DType::i16}};
  passes::run_pipeline(m, options);
  return codegen::lower(m, "fed", ir::host());
}

struct Epoch {
  Ids x, y;
  bool operator==(const Epoch&) const = default;
};

// Epochs one after another on one feed, in submissions of one step or of three.
std::vector<Epoch> run(const data::Table& table, const std::vector<uint32_t>& order, const std::vector<Draws>& epochs,
                       int64_t resident = int64_t{1} << 30) {
  const codegen::Program fed = program();
  HostDevice device({.threads = 2, .kernel_cache = {}});
  Executable executable(fed, device);
  Feed feed(executable, {.resident_bytes = resident});
  const codegen::Entry& e = *fed.find_entry(ir::Phase::train);
  std::vector<Epoch> all;
  for (const Draws& draws : epochs) {
    feed.begin(table, order, draws);
    Epoch epoch;
    for (int step = 0; step < kRows / kBatch; ++step) {
      feed.provide(kBatch);
      executable.wait(executable.submit(e, 1));
      const auto append = [&](size_t output, Ids& to) {
        Ids batch(kBatch * kLength);
        executable.read(e.outputs.at(output), batch.data());
        to.insert(to.end(), batch.begin(), batch.end());
      };
      append(1, epoch.x), append(2, epoch.y);
    }
    feed.take(kRows / kBatch);
    all.push_back(std::move(epoch));
  }
  return all;
}

std::vector<uint32_t> in_turn() {
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < kRows; ++i) order.push_back(i * 7 % kRows);
  return order;
}

// Where the windows of an epoch begin behind their rows' first elements; -1 where elements do not follow one another.
std::vector<int> offsets(const Epoch& epoch, const std::vector<uint32_t>& order) {
  std::vector<int> found;
  for (size_t i = 0; i < order.size(); ++i) {
    const int first = epoch.x[i * kLength];
    bool whole = true;
    for (int k = 0; k < kLength; ++k) {
      const size_t at = i * kLength + static_cast<size_t>(k);
      whole = whole && epoch.x[at] == first + k && epoch.y[at] == first + k + 1;
    }
    found.push_back(whole ? first - static_cast<int>(order[i]) * kLength : -1);
  }
  return found;
}

TEST(DrawnOffsets, WindowsBeginUpToTheirLengthLater) {
  const Draws first{.seed = 7, .epoch = 0, .training = true}, second{.seed = 7, .epoch = 1, .training = true};
  const auto epochs = run(counting(true), in_turn(), {first, second, first});
  std::set<int> all;
  for (const Epoch& epoch : epochs)
    for (size_t i = 0; i < kRows; ++i) {
      const int offset = offsets(epoch, in_turn())[i];
      ASSERT_GE(offset, 0) << i;
      ASSERT_LT(offset, in_turn()[i] + 1 == kRows ? 1 : kLength) << i;  // nothing lies behind the last row
      all.insert(offset);
    }
  EXPECT_GE(all.size(), 5U);
  EXPECT_NE(epochs[0], epochs[1]);
  EXPECT_EQ(epochs[0], epochs[2]);
  EXPECT_EQ(epochs, run(counting(true), in_turn(), {first, second, first}, 1));  // where memory is short
}

TEST(DrawnOffsets, EvaluationsAndOtherTablesStayWhereTheyAre) {
  const std::vector<int> none(kRows, 0);
  const Draws training{.seed = 7, .epoch = 0, .training = true};
  EXPECT_EQ(offsets(run(counting(true), in_turn(), {{}})[0], in_turn()), none);
  EXPECT_EQ(offsets(run(counting(false), in_turn(), {training})[0], in_turn()), none);
}

// Each offset about equally often, of any epoch, row and seed: five standard deviations.
TEST(DrawnOffsets, AreSpreadEvenly) {
  constexpr int kDraws = 40'000, kBelow = 10;
  std::vector<int> of_rows(kBelow), of_epochs(kBelow), of_seeds(kBelow);
  for (int i = 0; i < kDraws; ++i) {
    ++of_rows[static_cast<size_t>(data::drawn_offset(1, 2, i, kBelow))];
    ++of_epochs[static_cast<size_t>(data::drawn_offset(1, static_cast<uint64_t>(i), 3, kBelow))];
    ++of_seeds[static_cast<size_t>(data::drawn_offset(static_cast<uint64_t>(i), 2, 3, kBelow))];
  }
  for (const auto& counts : {of_rows, of_epochs, of_seeds})
    for (const int n : counts) EXPECT_NEAR(n, kDraws / kBelow, 5 * std::sqrt(kDraws * 0.1 * 0.9));
  EXPECT_EQ(data::drawn_offset(1, 2, 3, 1), 0);
}

}  // namespace
}  // namespace heddle::runtime
