// mape over two batches, with targets of 0, against scikit-learn's formula written out.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/unit/built_model.h"

namespace heddle::frontend {
namespace {

TEST(Metric, MeanAbsolutePercentageError) {
  Training training(model(
      R"("x": {"shape": ["N", 2]}, "t": {"shape": ["N", 2]})",
      R"({"name": "s", "op": "param", "shape": [2], "init": "ones"}, {"name": "p", "op": "mul", "in": ["x", "s"]})",
      R"(, "train": {"batch": {"N": 2}, "loss": {"op": "mse", "in": ["p", "t"]}, "metrics": [{"op": "mape", "in": ["p", "t"]}],
         "optimizer": {"op": "sgd", "lr": 0}})"));
  training.states["s"].real = {1, 1};
  const std::vector<std::vector<double>> predicted = {{2.5, 0, 0, 2}, {2, -1, 8, 1e-9}};
  const std::vector<std::vector<double>> target = {{3, -0.5, 0, 4}, {-2, -0.25, 7, 0}};
  double sum = 0;
  for (size_t batch = 0; batch < predicted.size(); ++batch) {
    ir::NamedTensors in;
    in["x"] = in["t"] = ir::Tensor({ir::DType::f32, {2, 2}});
    in["x"].real = predicted[batch], in["t"].real = target[batch];
    training.step(in);
    for (size_t i = 0; i < 4; ++i)
      sum += std::abs(predicted[batch][i] - target[batch][i]) /
             std::max(std::abs(target[batch][i]), std::numeric_limits<double>::epsilon());
  }
  EXPECT_NEAR(training.metrics().at(1).at(0), sum / 8, 1e-12 * sum);
}

}  // namespace
}  // namespace heddle::frontend
