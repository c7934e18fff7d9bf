// mask_tokens: which tokens are hidden, what stands for them, and what the targets are, against the formula; and how often.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <map>
#include <set>

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
using ir::DataMap;
using ir::FedColumn;
using Ids = std::vector<int32_t>;

constexpr int kBatch = 4;

std::array<uint32_t, 4> words_of(Draws d, uint64_t row, uint64_t element, uint64_t elements) {
  const auto low = [](uint64_t v) { return static_cast<uint32_t>(v); };
  const auto high = [](uint64_t v) { return static_cast<uint32_t>(v >> 32); };
  const uint64_t stream = 0x6d61736b6564, group = row * elements + element;
  return testing::philox({low(group), high(group), low(d.epoch), high(d.epoch)}, low(d.seed) ^ high(d.seed),
                         low(stream) ^ high(stream));
}

struct Masking {
  int mask = 4, vocab = 40;
  std::set<int> special = {0, 1, 2, 4, 17};  // with the mask
  double rate = 0.15, masked = 0.8, random = 0.1;

  DataMap map(bool targets) const {
    return data_map("mask_tokens", {{"mask", {static_cast<double>(mask)}},
                                    {"vocab", {static_cast<double>(vocab)}},
                                    {"special", {special.begin(), special.end()}},
                                    {"rate", {rate}},
                                    {"masked", {masked}},
                                    {"random", {random}},
                                    {"targets", {targets ? 1.0 : 0.0}}});
  }
  Ids plain() const {
    Ids ids;
    for (int id = 0; id < vocab; ++id)
      if (!special.contains(id)) ids.push_back(id);
    return ids;
  }
  // The token and its target.
  std::pair<int, int> of(int id, const std::array<uint32_t, 4>& w) const {
    if (id < 0 || id >= vocab || special.contains(id) || w[0] >= std::ldexp(rate, 32)) return {id, -100};
    if (w[1] < std::ldexp(masked, 32)) return {mask, id};
    if (w[1] >= std::ldexp(masked + random, 32)) return {id, id};
    const Ids others = plain();
    return {others[static_cast<size_t>(uint64_t{w[2]} * others.size() >> 32)], id};
  }
};

struct Made {
  Ids tokens, targets;
  bool operator==(const Made&) const = default;
};

codegen::Program program_of(int length, const Masking& m, const std::string& entry, ir::DType stored, int whole = 0) {
  const std::string shape = "[4," + std::to_string(length) + "]";
  const std::string text = "graph @" + entry + "(input %x: i32" + shape + ", input %y: i32" + shape + ") {\n  %a: i32" +
                           shape + " = add(%x, %y)\n  %r: f32" + shape +
                           " = cast(%a) {dtype = \"f32\"}\n  %loss: f32[] = reduce_sum(%r) {axes = [0,1]}\n"
                           "  return %loss, %x, %y\n}\n";
  const SourceFile source{"feed.hir", text};
  ir::Module module = ir::parse(source);
  passes::Options options = testing::host_options();
  options.columns = {{.input = "x", .stored = stored, .maps = {m.map(false)}, .stride = whole},
                     {.input = "y", .stored = stored, .maps = {m.map(true)}, .stride = whole}};
  passes::run_pipeline(module, options);
  return codegen::lower(module, "fed", ir::host());
}

data::Table table_of(const Ids& ids, int length, bool wide) {
  data::Table table{.rows = std::ssize(ids) / length, .columns = {}};
  for (const char* name : {"x", "y"}) {
    data::Column c{.input = name, .type = wide ? data::ElementType::i32 : data::ElementType::u8, .dims = {length}};
    for (const int32_t id : ids) {
      const size_t at = c.bytes.size(), size = wide ? 4 : 1;
      c.bytes.resize(at + size);
      std::memcpy(c.bytes.data() + at, &id, size);
    }
    table.columns.push_back(std::move(c));
  }
  return table;
}

struct How {
  std::string entry = "train";
  int threads = 2, steps_at_once = 1;
  int64_t resident = int64_t{1} << 30;
  int whole = 0;  // elements of a row of the table, of which the first are taken; 0: as many as are taken
};

Made run(const Ids& ids, int length, const Masking& m, const std::vector<uint32_t>& order, Draws draws,
         const How& how = {}) {
  const bool wide = std::ranges::any_of(ids, [](int32_t id) { return id < 0 || id > 255; });
  const codegen::Program program = program_of(length, m, how.entry, wide ? ir::DType::i32 : ir::DType::u8, how.whole);
  HostDevice device({.threads = how.threads, .kernel_cache = {}});
  Executable executable(program, device);
  Feed feed(executable, {.resident_bytes = how.resident});
  const codegen::Entry& e = *program.find_entry(ir::entry_kind(how.entry));
  const data::Table table = table_of(ids, how.whole > 0 ? how.whole : length, wide);
  feed.begin(table, order, draws);
  Made made;
  const int64_t steps = (order.empty() ? table.rows : std::ssize(order)) / kBatch;
  for (int64_t step = 0; step < steps; ++step) {
    feed.provide(kBatch);
    executable.wait(executable.submit(e, 1));
    const auto append = [&](size_t output, Ids& to) {
      Ids batch(static_cast<size_t>(kBatch * length));
      executable.read(e.outputs.at(output), batch.data());
      to.insert(to.end(), batch.begin(), batch.end());
    };
    append(1, made.tokens), append(2, made.targets);
  }
  feed.take(steps);
  return made;
}

Made expected(const Ids& ids, int length, const Masking& m, const std::vector<uint32_t>& order, Draws draws) {
  Made made;
  for (const uint32_t row : order)
    for (int i = 0; i < length; ++i) {
      const int id = ids[static_cast<size_t>(row) * static_cast<size_t>(length) + static_cast<size_t>(i)];
      const auto [token, target] =
          m.of(id, words_of(draws, row, static_cast<uint64_t>(i), static_cast<uint64_t>(length)));
      made.tokens.push_back(token), made.targets.push_back(target);
    }
  return made;
}

Ids some_ids(int rows, int length, int vocab) {
  Ids ids;
  for (int i = 0; i < rows * length; ++i) ids.push_back(i * 29 % 251 % vocab);
  return ids;
}
std::vector<uint32_t> in_turn(uint32_t rows) {
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < rows; ++i) order.push_back(i * 7 % rows);
  return order;
}

// As the rows lie and streamed, whatever the threads; a row of one token, of an odd number, and of packets.
TEST(MaskTokens, EachElementIsThatOfTheFormula) {
  const Draws draws{.seed = (uint64_t{1} << 40) + 11, .epoch = 3};
  for (const int length : {1, 7, 16})
    for (const Masking& m : {Masking{}, Masking{.rate = 1, .masked = 0.3, .random = 0.4},
                             Masking{.mask = 39, .special = {39}, .rate = 0.5, .masked = 0, .random = 1},
                             Masking{.rate = 0.6, .masked = 1, .random = 0}}) {
      const Ids ids = some_ids(12, length, m.vocab);
      const Made wanted = expected(ids, length, m, in_turn(12), draws);
      for (const char* entry : {"train", "eval"})
        EXPECT_EQ(run(ids, length, m, in_turn(12), draws, {.entry = entry}), wanted) << entry << " " << length;
      EXPECT_EQ(run(ids, length, m, in_turn(12), draws, {.threads = 1}), wanted) << length;
      EXPECT_EQ(run(ids, length, m, in_turn(12), draws, {.threads = 3, .resident = 1}), wanted) << length;
    }
}

// Who takes the first elements of longer rows has them hidden as the whole rows have.
TEST(MaskTokens, AreThoseOfWholeRows) {
  constexpr int kWhole = 16, kTaken = 6;
  const Masking m;
  const Ids ids = some_ids(12, kWhole, m.vocab);
  const Draws draws{.seed = 3, .epoch = 2};
  const Made whole = run(ids, kWhole, m, in_turn(12), draws),
             taken = run(ids, kTaken, m, in_turn(12), draws, {.whole = kWhole});
  Made wanted;
  for (size_t i = 0; i < ids.size(); ++i)
    if (i % kWhole < kTaken) wanted.tokens.push_back(whole.tokens[i]), wanted.targets.push_back(whole.targets[i]);
  EXPECT_EQ(taken, wanted);
}

// The row's number counts, not its place in the batch or in the order; another epoch and another seed hide others.
TEST(MaskTokens, DependsOnSeedEpochAndRow) {
  const Masking m;
  const Ids ids = some_ids(12, 16, m.vocab);
  std::vector<uint32_t> straight;
  for (uint32_t i = 0; i < 12; ++i) straight.push_back(i);
  const Made lying = run(ids, 16, m, {}, {.seed = 5, .epoch = 1}), turned = run(ids, 16, m, in_turn(12), {5, 1});
  EXPECT_EQ(lying, run(ids, 16, m, straight, {5, 1}));
  for (size_t i = 0; i < 12; ++i)
    for (size_t k = 0; k < 16; ++k) ASSERT_EQ(turned.tokens[i * 16 + k], lying.tokens[in_turn(12)[i] * 16 + k]);
  std::set<Ids> different;
  for (const Draws d : {Draws{5, 1}, Draws{5, 2}, Draws{6, 1}, Draws{(uint64_t{1} << 33) + 5, 1}})
    different.insert(run(ids, 16, m, {}, d).targets);
  EXPECT_EQ(different.size(), 4U);
}

// Of 128,000 tokens, five standard deviations around the shares.
TEST(MaskTokens, SharesAreThoseThatAreAskedFor) {
  const Masking m;
  const Ids ids = some_ids(2000, 64, m.vocab);
  const Made made = run(ids, 64, m, {}, {.seed = 1, .epoch = 0});
  double plain = 0, chosen = 0, masked = 0, kept = 0;
  std::map<int, int> random;
  for (size_t i = 0; i < ids.size(); ++i) {
    const bool special = m.special.contains(ids[i]);
    plain += special ? 0 : 1;
    if (made.targets[i] == -100) {
      ASSERT_EQ(made.tokens[i], ids[i]);
      continue;
    }
    ASSERT_FALSE(special);
    ASSERT_EQ(made.targets[i], ids[i]);
    ++chosen;
    if (made.tokens[i] == m.mask)
      ++masked;
    else if (made.tokens[i] == ids[i])
      ++kept;
    else
      ++random[made.tokens[i]];
  }
  const auto near = [](double count, double of, double share) {
    EXPECT_NEAR(count, of * share, 5 * std::sqrt(of * share * (1 - share)));
  };
  near(chosen, plain, 0.15);
  near(masked, chosen, 0.8);
  near(kept, chosen, 0.1 + 0.1 / 35);  // one of 35 drawn tokens is the token itself
  EXPECT_EQ(random.size(), 35U);       // all that are not special
  double drawn = 0;
  for (const auto& [id, count] : random) {
    EXPECT_FALSE(m.special.contains(id)) << id;
    drawn += count;
  }
  for (const auto& [id, count] : random) near(count, drawn, 1.0 / 35);
}

// Rows of padding, rows of special tokens, and what is no token at all.
TEST(MaskTokens, NothingIsHiddenWhereNothingCanBe) {
  Masking m{.rate = 1};
  Ids ids(4 * 8, 0);
  for (size_t i = 8; i < 16; ++i) ids[i] = std::array{0, 1, 2, 4, 17, 17, 4, 1}[i - 8];
  for (size_t i = 16; i < 24; ++i) ids[i] = std::array{-100, 40, -1, 1000, 0, 41, 255, -100}[i - 16];
  const Made made = run(ids, 8, m, {}, {.seed = 3, .epoch = 2});
  EXPECT_EQ(made.tokens, ids);
  EXPECT_EQ(made.targets, Ids(4 * 8, -100));
}

}  // namespace
}  // namespace heddle::runtime
