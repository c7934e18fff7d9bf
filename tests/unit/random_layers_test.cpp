// Random numbers of a node's own.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/unit/built_model.h"

namespace heddle::frontend {
namespace {

// w trains by the gradient of mean(w * noise), which is noise / elements: what was drawn can be read off its change.
Training trained(const std::string& noise) {
  return Training(
      model(R"("x": {"shape": ["N", 2]})",
            R"({"name": "w", "op": "param", "shape": [3000], "init": "zeros"},
      {"name": "noise", )" +
                noise +
                R"(, "shape": [3000]}, {"name": "p", "op": "mul", "in": ["w", "noise"]}, {"name": "l", "op": "sum"},
      {"name": "y", "op": "mul", "in": ["x", 1]})",
            R"(, "outputs": {"y": "y"}, "train": {"batch": {"N": 1}, "steps": 2,
      "loss": {"op": "value", "in": "l"}, "optimizer": {"op": "sgd", "lr": 1}})"));
}

std::vector<double> drawn(Training& training) {
  const std::vector<double> before = training.states.at("w").real;
  training.step({{"x", tensor({ir::DType::f32, {1, 2}}, [](int64_t) { return 0.0; })}});
  std::vector<double> out;
  for (size_t i = 0; i < before.size(); ++i) out.push_back(before[i] - training.states.at("w").real[i]);
  return out;
}

double mean_of(const std::vector<double>& v, double power = 1) {
  double sum = 0;
  for (const double x : v) sum += std::pow(x, power);
  return sum / static_cast<double>(v.size());
}

TEST(RandomNormal, HasItsMomentsAndOthersInEachStep) {
  Training training = trained(R"("op": "random_normal", "mean": 3, "std": 2)");
  const std::vector<double> first = drawn(training), second = drawn(training);
  const double deviation = 2 / std::sqrt(3000.0);
  for (const auto& v : {first, second}) {
    EXPECT_NEAR(mean_of(v), 3, 5 * deviation);
    EXPECT_NEAR(mean_of(v, 2), 9 + 4, 5 * 13 * deviation);  // the square's deviation is less than 13
  }
  EXPECT_NE(first, second);
}

TEST(RandomUniform, LiesBetweenItsBounds) {
  Training training = trained(R"("op": "random_uniform", "low": -2, "high": 4)");
  const std::vector<double> v = drawn(training);
  EXPECT_GE(*std::ranges::min_element(v), -2);
  EXPECT_LT(*std::ranges::max_element(v), 4);
  EXPECT_NEAR(mean_of(v), 1, 5 * 6 / std::sqrt(12 * 3000.0));
  EXPECT_NEAR(mean_of(v, 2), 1 + 3, 5 * 16 / std::sqrt(3000.0));  // 36 / 12 beside the mean's square
}

// Out of training they are their mean.
TEST(RandomLayers, AreTheirMeanInPredictions) {
  const auto predicted = [](const std::string& node) {
    ir::NamedTensors values;
    values["x"] = tensor({ir::DType::f32, {1, 2}}, [](int64_t i) { return static_cast<double>(i); });
    return predict(model(R"("x": {"shape": ["N", 2]})", R"({"name": "r", "shape": ["N", 2], )" + node + R"(},
        {"name": "y", "op": "add", "in": ["x", "r"]})",
                         R"(, "outputs": {"y": "y"})"),
                   values);
  };
  EXPECT_EQ(predicted(R"("op": "random_normal")"), (std::vector<double>{0, 1}));
  EXPECT_EQ(predicted(R"("op": "random_normal", "mean": 5)"), (std::vector<double>{5, 6}));
  EXPECT_EQ(predicted(R"("op": "random_uniform")"), (std::vector<double>{0.5, 1.5}));
  EXPECT_EQ(predicted(R"("op": "random_uniform", "low": -4, "high": 2)"), (std::vector<double>{-1, 0}));
}

// Two nodes draw apart.
TEST(RandomLayers, NodesDrawApart) {
  Training training(model(R"("x": {"shape": ["N", 2]})",
                          R"({"name": "w", "op": "param", "shape": [4], "init": "zeros"},
      {"name": "a", "op": "random_normal", "shape": [4]}, {"name": "b", "op": "random_normal", "shape": [4]},
      {"name": "d", "op": "sub", "in": ["a", "b"]}, {"name": "p", "op": "mul", "in": ["w", "d"]}, {"name": "l", "op": "sum"},
      {"name": "y", "op": "mul", "in": ["x", 1]})",
                          R"(, "outputs": {"y": "y"}, "train": {"batch": {"N": 1}, "steps": 2,
      "loss": {"op": "value", "in": "l"}, "optimizer": {"op": "sgd", "lr": 1}})"));
  for (const double difference : drawn(training)) EXPECT_NE(difference, 0);
}

}  // namespace
}  // namespace heddle::frontend
