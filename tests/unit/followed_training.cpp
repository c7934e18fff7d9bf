#include "tests/unit/followed_training.h"

#include <gtest/gtest.h>

namespace heddle::frontend {
namespace {

// loss = mean((x w - t)^2) with one weight for each of 3 columns and 2 rows: the gradient is known.
struct Problem {
  std::vector<double> w = {0.5, -1.0, 2.0};
  ir::NamedTensors inputs = {{"x", tensor({ir::DType::f32, {2, 3}}, wave)},
                             {"t", tensor({ir::DType::f32, {2, 3}}, [](int64_t i) { return wave(i + 9); })}};

  std::vector<double> gradient() const {
    std::vector<double> g(3, 0);
    for (size_t i = 0; i < 6; ++i) {
      const double x = inputs.at("x").real[i], t = inputs.at("t").real[i];
      g[i % 3] += 2.0 / 6 * (x * w[i % 3] - t) * x;
    }
    return g;
  }
};

std::string problem_model(const std::string& train) {
  return model(R"("x": {"shape": ["N", 3], "dtype": "f32"}, "t": {"shape": ["N", 3], "dtype": "f32"})",
               R"({"name": "w", "op": "param", "shape": [3]}, {"name": "y", "op": "mul", "in": ["x", "w"]})",
               R"(, "train": {"batch": {"N": 2}, "loss": {"op": "mse", "in": ["y", "t"]}, )" + train + "}");
}

}  // namespace

void follow(const std::string& train, const UpdateRule& rule, int steps, double tolerance) {
  Problem problem;
  Training training(problem_model(train));
  training.states["w"].real = problem.w;
  for (int step = 0; step < steps; ++step) {
    training.step(problem.inputs);
    rule(problem.w, problem.gradient(), step);
    for (size_t i = 0; i < 3; ++i)
      ASSERT_NEAR(training.states["w"].real[i], problem.w[i], tolerance) << train << " step " << step;
  }
  EXPECT_EQ(training.states["step"].integer, std::vector<int64_t>{steps});
}

void follow_rate(const std::string& train, const std::function<double(int step)>& rate, int steps) {
  follow(
      train,
      [&](std::vector<double>& w, const std::vector<double>& g, int step) {
        for (size_t i = 0; i < w.size(); ++i) w[i] -= rate(step) * g[i];
      },
      steps, 1e-11);
}

}  // namespace heddle::frontend
