// Layers over windows along every axis, over parts whose place is computed, and the logarithm of sums of exp(x).
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/unit/built_model.h"

namespace heddle::frontend {
namespace {

using ir::NamedTensors;

const std::string kX = R"("x": {"shape": ["N", 2, 3]})";  // 0 1 2 / 3 4 5

std::vector<double> result(const std::string& nodes, const std::string& inputs = kX, NamedTensors more = {}) {
  more["x"] = tensor({ir::DType::f32, {1, 2, 3}}, [](int64_t i) { return static_cast<double>(i); });
  return predict(model(inputs, nodes, R"(, "outputs": {"y": "y"})"), more);
}

TEST(Windows, AreReduced) {
  const auto of = [](const std::string& op) {
    return result(R"({"name": "y", "in": "x", "op": ")" + op + R"(", "window": [1, 2, 2]})");
  };
  EXPECT_EQ(of("window_sum"), (std::vector<double>{0 + 1 + 3 + 4, 1 + 2 + 4 + 5}));
  EXPECT_EQ(of("window_prod"), (std::vector<double>{0, 1 * 2 * 4 * 5}));
  EXPECT_EQ(of("window_max"), (std::vector<double>{4, 5}));
  EXPECT_EQ(of("window_min"), (std::vector<double>{0, 1}));
}

// Padding is no element: a window at the border holds fewer.
TEST(Windows, LeaveOutThePadding) {
  const std::string padded = R"("window": [1, 1, 3], "strides": [1, 1, 2], "pads": [0, 0, 1, 0, 0, 1]})";
  EXPECT_EQ(result(R"({"name": "y", "op": "window_sum", )" + padded), (std::vector<double>{1, 3, 7, 9}));
  EXPECT_EQ(result(R"({"name": "y", "op": "window_min", )" + padded), (std::vector<double>{0, 1, 3, 4}));
}

TEST(SelectAndScatter, AddsToTheElementThatEachWindowChooses) {
  const std::string inputs = kX + R"(, "s": {"shape": ["N", 1, 2]})";
  const auto of = [&](const std::string& select) {
    NamedTensors values;
    values["s"] = tensor({ir::DType::f32, {1, 1, 2}}, [](int64_t i) { return static_cast<double>(10 + i); });
    return result(R"({"name": "y", "op": "select_and_scatter", "in": ["x", "s"], "window": [1, 2, 2], "select": ")" +
                      select + "\"}",
                  inputs, values);
  };
  EXPECT_EQ(of("max"), (std::vector<double>{0, 0, 0, 0, 10, 11}));
  EXPECT_EQ(of("min"), (std::vector<double>{10, 11, 0, 0, 0, 0}));
}

// A start beyond the end is moved to where all of the part is inside.
TEST(DynamicSlice, BeginsWhereTheStartsSay) {
  const std::string starts = R"({"name": "a", "op": "constant", "value": 9, "dtype": "i32", "shape": [1]},
      {"name": "b", "op": "constant", "value": 0, "dtype": "i32", "shape": [1]},
      {"name": "c", "op": "constant", "value": 1, "dtype": "i32", "shape": [1]},
      {"name": "s", "op": "concat", "in": ["b", "a", "c"], "axis": 0},)";
  EXPECT_EQ(result(starts + R"({"name": "y", "op": "dynamic_slice", "in": ["x", "s"], "sizes": ["N", 1, 2]})"),
            (std::vector<double>{4, 5}));
  NamedTensors values;
  values["u"] = tensor({ir::DType::f32, {1, 1, 2}}, [](int64_t i) { return static_cast<double>(10 + i); });
  EXPECT_EQ(result(starts + R"({"name": "y", "op": "dynamic_update_slice", "in": ["x", "u", "s"]})",
                   kX + R"(, "u": {"shape": ["N", 1, 2]})", values),
            (std::vector<double>{0, 1, 2, 3, 10, 11}));
}

TEST(LogSumExp, ReducesAxes) {
  const std::vector<double> rows = result(R"({"name": "y", "op": "logsumexp", "axis": -1, "keepdims": true})");
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_NEAR(rows[0], std::log(1 + std::exp(1) + std::exp(2)), 1e-14);
  EXPECT_NEAR(rows[1], std::log(1 + std::exp(1) + std::exp(2)) + 3, 1e-14);
}

// exp(1000) is beyond every type; of infinities the difference is no number, the result is the largest of them.
TEST(LogSumExp, NeitherOverflowsNorLosesInfinities) {
  const double inf = std::numeric_limits<double>::infinity();
  const auto of = [](double a, double b) {
    NamedTensors values;
    values["v"] = tensor({ir::DType::f32, {1, 2}}, [&](int64_t i) { return i == 0 ? a : b; });
    return predict(model(R"("v": {"shape": ["N", 2]})", R"({"name": "y", "op": "logsumexp", "axis": 1})",
                         R"(, "outputs": {"y": "y"})"),
                   values)[0];
  };
  EXPECT_NEAR(of(1000, 1000), 1000 + std::log(2), 1e-10);
  EXPECT_EQ(of(-inf, -inf), -inf);
  EXPECT_EQ(of(-inf, 2), 2);
  EXPECT_EQ(of(inf, 2), inf);
  EXPECT_EQ(of(inf, -inf), inf);
  EXPECT_TRUE(std::isnan(of(std::nan(""), 2)));
}

}  // namespace
}  // namespace heddle::frontend
