// What attention promises beside its numbers, of the oracle, decomposed, and in blocks on the host: hidden keys change
// nothing, rows without keys are zeros, all forms drop the same weights, and no number of threads changes a bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "ir/builder.h"
#include "ir/evaluate/evaluate.h"
#include "passes/decompose.h"
#include "passes/differentiate.h"
#include "tests/numeric/harness.h"
#include "tests/support/host_run.h"

namespace heddle::testing {
namespace {

using namespace ir;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

struct Setting {
  std::string name;
  int64_t rows = 2, heads = 2, queries = 5, keys = 7, width = 4;
  Attrs attrs = {};
  std::vector<std::pair<std::string, Tensor>> extras = {};
};

Tensor whole(DType dtype, const Dims& dims, const std::vector<int64_t>& values) {
  Tensor t({dtype, dims});
  t.integer = values;
  return t;
}

// y, and the gradients of sum(y * r) by q, k and v.
Module network(const Setting& s) {
  Module m;
  Graph& g = m.graphs.emplace_back();
  g.name = "f";
  Builder b(g);
  const Dims q{s.rows, s.queries, s.heads * s.width}, k{s.rows, s.keys, s.heads * s.width};
  Values operands{g.add_input("q", {DType::f32, q}, Role::input), g.add_input("k", {DType::f32, k}, Role::input),
                  g.add_input("v", {DType::f32, k}, Role::input)};
  const ValueId r = g.add_input("r", {DType::f32, q}, Role::input);
  for (const auto& [name, tensor] : s.extras) operands.push_back(g.add_input(name, tensor.type, Role::input));
  Attrs attrs = s.attrs;
  attrs["heads"] = s.heads;
  const ValueId y = b("attention", operands, attrs, "y");
  const ValueId loss = b("reduce_sum", {b("mul", {y, r})});
  g.outputs = {y};
  for (size_t i = 0; i < 3; ++i) g.outputs.push_back(b("gradient", {loss, operands[i]}));
  passes::differentiate(m, {});
  return m;
}

NamedTensors inputs_of(const Setting& s) {
  const Type q{DType::f32, {s.rows, s.queries, s.heads * s.width}}, k{DType::f32, {s.rows, s.keys, s.heads * s.width}};
  NamedTensors in{{"q", random_tensor(q, -2, 2, 1, 1)},
                  {"k", random_tensor(k, -2, 2, 1, 2)},
                  {"v", random_tensor(k, -2, 2, 1, 3)},
                  {"r", random_tensor(q, -2, 2, 1, 4)}};
  for (const auto& [name, tensor] : s.extras) in[name] = tensor;
  return in;
}

enum class Way { oracle, parts, host_parts, host_blocks };

std::vector<Tensor> run(const Setting& s, const NamedTensors& in, Way way, int threads = 1) {
  Module m = network(s);
  if (way == Way::parts || way == Way::host_parts) passes::decompose_nodes(m.graphs[0], [](NodeId) { return true; });
  if (way == Way::oracle || way == Way::parts) return evaluate(m, m.graphs[0], in).outputs;
  HostRun host(std::move(m), "f", {.threads = threads});
  bool blocks = false;
  for (const codegen::Kernel& k : host.program().kernels)
    blocks |= k.name.find("attention_blocks") != std::string::npos;
  EXPECT_EQ(blocks, way == Way::host_blocks) << s.name;
  return host(in).outputs;
}

constexpr Way kWays[] = {Way::oracle, Way::parts, Way::host_parts, Way::host_blocks};

bool same_bits(const Tensor& a, const Tensor& b) {
  return a.type == b.type && a.real == b.real && a.integer == b.integer;
}

// Keys of row 1 that no query sees, by each way to hide them.
std::vector<std::pair<Setting, std::vector<int64_t>>> hidden() {
  const auto flag = [](const char* name) { return Attrs{{name, true}}; };
  std::vector<std::pair<Setting, std::vector<int64_t>>> all;
  Setting s{.name = "lengths", .attrs = flag("lengths")};
  s.extras = {{"lengths", whole(DType::i32, {2}, {7, 4})}};
  all.emplace_back(s, std::vector<int64_t>{4, 5, 6});
  s = {.name = "key_mask", .attrs = flag("key_mask")};
  s.extras = {{"key_mask", whole(DType::boolean, {2, 7}, {1, 1, 1, 1, 1, 1, 1, 0, 1, 1, 0, 1, 1, 0})}};
  all.emplace_back(s, std::vector<int64_t>{0, 3, 6});
  s = {.name = "window", .queries = 3, .attrs = {{"causal", true}, {"window", int64_t{2}}}};
  all.emplace_back(s, std::vector<int64_t>{0, 1, 2});
  s = {.name = "documents", .queries = 3, .attrs = {{"causal", true}, {"documents", true}}};
  s.extras = {{"documents", whole(DType::i32, {2, 7}, {0, 0, 0, 0, 0, 0, 0, 5, 5, 6, 6, 8, 8, 8})}};
  all.emplace_back(s, std::vector<int64_t>{0, 1, 2, 3});
  s = {.name = "long", .queries = 150, .keys = 150, .attrs = {{"causal", true}, {"lengths", true}}};
  s.extras = {{"lengths", whole(DType::i32, {2}, {150, 70})}};
  all.emplace_back(s, std::vector<int64_t>{70, 71, 100, 149});
  return all;
}

TEST(Attention, WhatNoQuerySeesChangesNoBit) {
  for (const auto& [s, keys] : hidden())
    for (const Way way : kWays) {
      NamedTensors in = inputs_of(s);
      const std::vector<Tensor> before = run(s, in, way);
      const int64_t row = s.heads * s.width;
      for (const int64_t key : keys)
        for (int64_t c = 0; c < row; ++c)
          for (const char* name : {"k", "v"}) in[name].set((s.keys + key) * row + c, c % 2 == 0 ? kNan : HUGE_VAL);
      const std::vector<Tensor> after = run(s, in, way);
      for (size_t i = 0; i < before.size(); ++i)
        EXPECT_TRUE(same_bits(before[i], after[i])) << s.name << ", way " << static_cast<int>(way) << ", output " << i;
    }
}

// The last key is not a number: rows that do not see it keep their bits, and others have it in the columns that hold it.
TEST(Attention, AKeyBehindAQueryChangesNothingOfIt) {
  Setting s{.name = "causal", .rows = 1, .queries = 70, .keys = 70, .attrs = {{"causal", true}}};
  for (const Way way : kWays) {
    NamedTensors in = inputs_of(s);
    const Tensor before = run(s, in, way)[0];
    const int64_t row = s.heads * s.width, first = 68;
    in["v"].set(first * row + 1, kNan);
    const Tensor after = run(s, in, way)[0];
    for (int64_t i = 0; i < s.queries; ++i)
      for (int64_t c = 0; c < row; ++c) {
        const double x = before.at(i * row + c), y = after.at(i * row + c);
        const bool sees = i >= first && c == 1;
        EXPECT_TRUE(sees ? std::isnan(y) : x == y) << "way " << static_cast<int>(way) << ", " << i << ", " << c;
      }
  }
}

TEST(Attention, RowsWithoutKeysAreZerosAndHaveZeroGradients) {
  Setting s{.name = "none", .attrs = {{"lengths", true}}};
  s.extras = {{"lengths", whole(DType::i32, {2}, {0, 7})}};
  Setting before{.name = "before", .queries = 7, .keys = 5, .attrs = {{"causal", true}}};
  for (const Way way : kWays) {
    const std::vector<Tensor> none = run(s, inputs_of(s), way), early = run(before, inputs_of(before), way);
    for (const Tensor& t : none)
      for (int64_t i = 0; i < t.elements(); ++i) {
        EXPECT_FALSE(std::isnan(t.at(i)));
        if (i < t.elements() / 2) {
          EXPECT_EQ(t.at(i), 0) << "way " << static_cast<int>(way);
        }
      }
    for (size_t output = 0; output < 2; ++output)  // y and dq of the first two queries
      for (int64_t i = 0; i < 2 * before.heads * before.width; ++i) EXPECT_EQ(early[output].at(i), 0);
  }
}

// f32 does not hold a logarithm beside 1e9, as additive masks have it: all keys are equal then, and none is lost.
TEST(Attention, ALargeBiasOfAllKeysLeavesTheirMean) {
  Setting s{.name = "bias", .attrs = {{"bias", true}}};
  s.extras = {{"bias", random_tensor({DType::f32, {1, 1, 1, s.keys}}, -1e9, -1e9, 1, 5)}};
  NamedTensors in = inputs_of(s);
  std::ranges::fill(in.at("q").real, 0.0);
  for (const Way way : kWays) {
    const Tensor y = run(s, in, way)[0];
    const int64_t width = s.heads * s.width;
    for (size_t i = 0; i < y.real.size(); ++i) {
      const auto row = static_cast<int64_t>(i) / (s.queries * width), column = static_cast<int64_t>(i) % width;
      double mean = 0;
      for (int64_t k = 0; k < s.keys; ++k)
        mean += in.at("v").real[static_cast<size_t>((row * s.keys + k) * width + column)] / static_cast<double>(s.keys);
      EXPECT_NEAR(y.real[i], mean, 1e-5) << static_cast<int>(way) << ": " << i;
    }
  }
}

TEST(Attention, AllFormsDropTheSameWeights) {
  for (const int64_t keys : {int64_t{7}, int64_t{8}, int64_t{130}}) {
    Setting s{.name = "drop", .rows = 1, .queries = keys, .keys = keys, .attrs = {{"causal", true}, {"rate", 0.4}}};
    s.attrs["stream"] = int64_t{11};
    s.extras = {{"seed", whole(DType::i64, {}, {3})}, {"step", whole(DType::i64, {}, {9})}};
    const NamedTensors in = inputs_of(s);
    const std::vector<Tensor> expected = run(s, in, Way::oracle);
    for (const Way way : {Way::parts, Way::host_parts, Way::host_blocks}) {
      const std::vector<Tensor> got = run(s, in, way);
      for (size_t k = 0; k < expected.size(); ++k)
        for (int64_t i = 0; i < expected[k].elements(); ++i)
          ASSERT_NEAR(expected[k].at(i), got[k].at(i), 2e-5) << "output " << k << ", element " << i;
    }
  }
}

TEST(Attention, NoNumberOfThreadsChangesABit) {
  for (const int64_t heads : {int64_t{1}, int64_t{3}, int64_t{8}}) {
    Setting s{.name = "threads", .rows = 1, .heads = heads, .queries = 200, .keys = 210, .width = 20};
    s.attrs = {{"causal", true}, {"window", int64_t{150}}};
    const NamedTensors in = inputs_of(s);
    const std::vector<Tensor> one = run(s, in, Way::host_blocks, 1);
    for (const int threads : {2, 3, 5}) {
      const std::vector<Tensor> several = run(s, in, Way::host_blocks, threads);
      for (size_t i = 0; i < one.size(); ++i) EXPECT_TRUE(same_bits(one[i], several[i])) << heads << " heads, " << i;
    }
  }
}

}  // namespace
}  // namespace heddle::testing
