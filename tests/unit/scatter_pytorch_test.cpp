// Scatter and gather_nd against PyTorch 2.15 (CPU, float64): index_add,
// index_reduce(include_self=True) by prod, amax and amin, index_copy, gather; results, and
// gradients of the sum of weights times the result.
#include <gtest/gtest.h>

#include <cmath>

#include "ir/builder.h"
#include "ir/evaluate/evaluate.h"
#include "passes/differentiate.h"

namespace heddle::ir {
namespace {

Tensor filled(DType dtype, const Dims& dims, const std::vector<double>& values) {
  Tensor t({dtype, dims});
  for (size_t i = 0; i < values.size(); ++i) t.set(static_cast<int64_t>(i), values[i]);
  return t;
}

// The results of `op`, then the gradients by its floating operands.
std::vector<Tensor> run(const char* op, const std::vector<Tensor>& operands, Attrs attrs, const Tensor& weights) {
  Module m;
  Graph& g = m.graphs.emplace_back();
  g.name = "f";
  NamedTensors values{{"w", weights}};
  Values in;
  for (const Tensor& t : operands) {
    const std::string name = "x" + std::to_string(in.size());
    in.push_back(g.add_input(name, t.type, Role::input));
    values[name] = t;
  }
  const ValueId w = g.add_input("w", weights.type, Role::input);
  Builder b(g);
  const ValueId y = b(op, in, std::move(attrs)), loss = b("reduce_sum", {b("mul", {y, w})});
  g.outputs = {y};
  for (size_t i = 0; i < in.size(); ++i)
    if (operands[i].floating()) g.outputs.push_back(b("gradient", {loss, in[i]}));
  passes::differentiate(m, {});
  return evaluate(m, m.graphs[0], values).outputs;
}

void expect_near(const Tensor& got, const std::vector<double>& expected, const std::string& what) {
  ASSERT_EQ(got.real.size(), expected.size()) << what;
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(got.real[i], expected[i], 1e-14) << what << ", element " << i;
}

struct Numbers {
  const char* combine;
  std::vector<double> indices, y, dx, dupdates;
};

const std::vector<Numbers>& numbers() {
  static const std::vector<Numbers> all = {
      {"add",
       {0, 2, 0, 2},
       {5.5, 1.5, 0.5, 4, -6, 2.75},
       {1, -2, 3, 0.5, 0.25, -1},
       {1, -2, 0.25, -1, 1, -2, 0.25, -1}},
      {"mul", {0, 2, 0, 2}, {6, 0, 0.5, 4, 0, -1.25}, {3, 0, 3, 0.5, 0, 1}, {3, 0, 2.25, -2.5, 4, 9, 0, 0.625}},
      {"max", {0, 2, 0, 2}, {2, 3, 0.5, 4, 0, 2}, {0.5, 0, 3, 0.5, 0, 0}, {0.5, -2, 0.25, 0, 0, 0, 0, -1}},
      {"min", {0, 2, 0, 2}, {1.5, -1.5, 0.5, 4, -3, -0.5}, {0, -2, 3, 0.5, 0.125, 0}, {0, 0, 0, -1, 1, 0, 0.125, 0}},
      {"set", {2, 0}, {0, -0.5, 0.5, 4, 2, 3}, {0, 0, 3, 0.5, 0, 0}, {0.25, -1, 1, -2}},
  };
  return all;
}

// Two updates of a row, equal ones among them, factors of 0 alone and not; the same by coordinates of one number.
TEST(Scatter, IsThatOfPyTorch) {
  const Tensor x = filled(DType::f64, {3, 2}, {2, -1.5, 0.5, 4, -3, 1.25});
  const Tensor w = filled(DType::f64, {3, 2}, {1, -2, 3, 0.5, 0.25, -1});
  const std::vector<double> updates = {2, 3, 0, -0.5, 1.5, 0, -3, 2};
  for (const Numbers& n : numbers()) {
    const auto count = std::ssize(n.indices);
    const Tensor u = filled(DType::f64, {count, 2}, {updates.begin(), updates.begin() + 2 * count});
    const Attrs attrs = {{"combine", std::string(n.combine)}};
    const auto rows = run("scatter", {x, filled(DType::i32, {count}, n.indices), u}, attrs, w);
    const auto parts = run("scatter_nd", {x, filled(DType::i64, {count, 1}, n.indices), u}, attrs, w);
    for (const auto* got : {&rows, &parts}) {
      expect_near((*got)[0], n.y, n.combine);
      expect_near((*got)[1], n.dx, n.combine);
      expect_near((*got)[2], n.dupdates, n.combine);
    }
  }
}

// torch.gather(x, 1, indices) of x[2,3,4], here with axis 1 last.
TEST(GatherNd, IsThatOfPyTorch) {
  const std::vector<double> gradient = {0, 1, 2, 7, 4, 5, 0, 3, 0, 0, 6, 0, 8, 0, 0, 15, 0, 0, 10, 11, 12, 22, 14, 0};
  const std::vector<std::vector<double>> places = {{2, 0, 0, 1}, {1, 1, 2, 0}, {0, 2, 1, 1}, {2, 2, 2, 0}};
  Tensor x({DType::f64, {2, 4, 3}}), indices({DType::i32, {2, 4, 2, 1}}), w({DType::f64, {2, 4, 2}});
  for (int64_t n = 0; n < 2; ++n)
    for (int64_t c = 0; c < 4; ++c) {
      for (int64_t r = 0; r < 3; ++r) x.set((n * 4 + c) * 3 + r, std::sin(static_cast<double>((n * 3 + r) * 4 + c)));
      for (int64_t i = 0; i < 2; ++i) {
        w.set((n * 4 + c) * 2 + i, static_cast<double>((n * 2 + i) * 4 + c));
        indices.set((n * 4 + c) * 2 + i, places[static_cast<size_t>(n * 2 + i)][static_cast<size_t>(c)]);
      }
    }
  const auto got = run("gather_nd", {x, indices}, {{"batch", int64_t{2}}}, w);
  for (int64_t n = 0; n < 2; ++n)
    for (int64_t c = 0; c < 4; ++c) {
      for (int64_t r = 0; r < 3; ++r)
        EXPECT_EQ(got[1].at((n * 4 + c) * 3 + r), gradient[static_cast<size_t>((n * 3 + r) * 4 + c)]);
      for (int64_t i = 0; i < 2; ++i) {
        const double row = places[static_cast<size_t>(n * 2 + i)][static_cast<size_t>(c)];
        EXPECT_EQ(got[0].at((n * 4 + c) * 2 + i),
                  std::sin((static_cast<double>(n) * 3 + row) * 4 + static_cast<double>(c)));
      }
    }
}

}  // namespace
}  // namespace heddle::ir
