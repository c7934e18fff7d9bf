// relative_positions: which row of its weight each distance has, and what the weight's gradient is.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "tests/unit/built_model.h"

namespace heddle::frontend {
namespace {

using ir::Dims;
using ir::DType;

using Row = std::vector<double>;

// The buckets of a query at place 12 of 25, by the numbers of transformers' T5Attention._relative_position_bucket.
Row buckets(const std::string& settings, int64_t rows) {
  const std::string text = model(
      R"("x": {"shape": ["N", 25, 25]})",
      R"({"name": "r", "op": "relative_positions", "in": "x", "heads": 1, )" + settings +
          R"(}, {"name": "y", "op": "add", "in": ["x", "r"]}, {"name": "of_query", "op": "slice", "axis": 1, "start": 12, "stop": 13})",
      R"(, "outputs": {"y": "of_query"}, "train": {"batch": {"N": 2}})");
  return predict(text,
                 {{"x", ir::Tensor({DType::f32, {2, 25, 25}})},
                  {"r.weight", tensor({DType::f32, {rows, 1}}, [](int64_t i) { return static_cast<double>(i); })}});
}

TEST(RelativePositions, HaveTheBucketsOfT5) {
  Row both = {5, 5, 5, 5, 5, 5, 4, 4, 3, 3, 2, 1, 0, 7, 8, 9, 9, 10, 10, 11, 11, 11, 11, 11, 11},
      before = {7, 7, 7, 6, 6, 6, 5, 4, 4, 3, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  both.insert(both.end(), both.begin(), both.begin() + 25);  // of the second row of the batch
  before.insert(before.end(), before.begin(), before.begin() + 25);
  EXPECT_EQ(buckets(R"("buckets": 12, "distance": 9)", 12), both);
  EXPECT_EQ(buckets(R"("buckets": 8, "distance": 12, "causal": true)", 8), before);
}

// Central differences of the sum of what attention makes with the bias, where several distances share a row.
TEST(RelativePositions, TrainTheirWeight) {
  for (const std::string settings :
       {R"("buckets": 4, "distance": 3)", R"("buckets": 4, "distance": 4, "causal": true)"}) {
    const std::string inputs = R"("x": {"shape": ["N", 6, 4]})";
    const std::string nodes =
        R"({"name": "r", "op": "relative_positions", "in": "x", "heads": 2, )" + settings +
        R"(}, {"name": "a", "op": "attention", "in": {"q": "x", "k": "x", "v": "x", "bias": "r"}, "heads": 2},
                                  {"name": "y", "op": "mul", "in": ["a", "x"]})";
    const ir::Tensor x = tensor({DType::f32, {2, 6, 4}}, [](int64_t i) { return 2 * wave(i); });
    Training training(model(inputs, nodes + R"(, {"name": "s", "op": "sum"})",
                            R"(, "train": {"batch": {"N": 2}, "loss": {"op": "value", "in": "s"},
                                 "optimizer": {"op": "sgd", "lr": 1}})"));
    const ir::Tensor before = training.states["r.weight"];
    training.step({{"x", x}});
    const std::string predicts = model(inputs, nodes, R"(, "outputs": {"y": "y"}, "train": {"batch": {"N": 2}})");
    const auto sum_with = [&](size_t element, double change) {
      ir::Tensor weight = before;
      weight.real[element] += change;
      const Row y = predict(predicts, {{"x", x}, {"r.weight", weight}});
      return std::accumulate(y.begin(), y.end(), 0.0);
    };
    int moved = 0;
    for (size_t i = 0; i < before.real.size(); ++i) {
      constexpr double kChange = 1e-4;
      const double expected = (sum_with(i, kChange) - sum_with(i, -kChange)) / (2 * kChange);
      EXPECT_NEAR(before.real[i] - training.states["r.weight"].real[i], expected, 1e-6)
          << settings << ", element " << i;
      moved += std::abs(expected) > 1e-4 ? 1 : 0;
    }
    EXPECT_GE(moved, 6) << settings;  // no key is behind the query by 0, which has a row too
  }
}

}  // namespace
}  // namespace heddle::frontend
