// The moving average of parameters, against PyTorch.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/unit/built_model.h"

namespace heddle::frontend {
namespace {

std::string averaged_model(const std::string& average) {
  return model(
      R"("x": {"shape": ["N", 3]}, "t": {"shape": ["N", 3]})",
      R"({"name": "w", "op": "param", "shape": [3]}, {"name": "fixed", "op": "param", "shape": [3], "init": "ones"},
                  {"name": "xw", "op": "mul", "in": ["x", "w"]}, {"name": "y", "op": "mul", "in": ["xw", "fixed"]})",
      R"(, "train": {"batch": {"N": 2}, "loss": {"op": "mse", "in": ["y", "t"]}, "freeze": ["fixed"],
                  "optimizer": {"op": "adam", "lr": 0.05}, "average": )" +
          average + "}");
}

// torch.optim.swa_utils.AveragedModel with get_ema_multi_avg_fn(0.9) of PyTorch 2.15 in float64,
// updated after each of 20 steps of Adam, or of those behind the first 7; and the loss of the
// averaged model.
TEST(Average, FollowsPyTorch) {
  struct Case {
    int start;
    std::vector<double> w;
    double loss;
  };
  const std::vector<Case> cases = {
      {0, {0.96504910231274854, -0.40502184046764383, 1.4324137194857454}, 0.2784454167693366},
      {7, {1.0272408586446848, -0.33927122934700854, 1.3674710634764136}, 0.24535297523648145}};
  for (const Case& c : cases) {
    Training training(averaged_model(fmt::format(R"({{"decay": 0.9, "start": {}}})", c.start)));
    training.states["w"].real = {0.5, -1.0, 2.0};
    const ir::NamedTensors in = {{"x", tensor({ir::DType::f32, {2, 3}}, wave)},
                                 {"t", tensor({ir::DType::f32, {2, 3}}, [](int64_t i) { return wave(i + 9); })}};
    for (int step = 0; step < 20; ++step) {
      training.step(in);
      if (step <= c.start) {
        EXPECT_EQ(training.states["w.average"].real, training.states["w"].real);
      }
    }
    const std::vector<double> own = training.states["w"].real;
    for (size_t i = 0; i < 3; ++i) EXPECT_NEAR(training.states["w.average"].real[i], c.w[i], 1e-8) << c.start;
    EXPECT_NEAR(training.run("eval", in).outputs.at(0).at(0), c.loss, 1e-8) << c.start;
    EXPECT_EQ(training.states["w"].real, own);  // an evaluation leaves the parameters as they are
    training.run("take_average");
    EXPECT_EQ(training.states["w"].real, training.states["w.average"].real);
  }
}

// In the type of the parameters, too: 1 less an f32 of 0.9999 is 0.02 % above 0.0001.
TEST(Average, KeepsItsDecayInSinglePrecision) {
  Training training(averaged_model(R"({"decay": 0.9999})"));
  training.precision = ir::Precision::rounded;
  const ir::NamedTensors none = {{"x", tensor({ir::DType::f32, {2, 3}}, [](int64_t) { return 0; })},
                                 {"t", tensor({ir::DType::f32, {2, 3}}, [](int64_t) { return 0; })}};
  training.states["w"].real = {0, 0, 0};
  training.step(none);
  training.states["w"].real = {1, -2, 3};
  for (int step = 0; step < 50; ++step) training.step(none);
  const double reached = 1 - std::pow(0.9999, 50);
  for (size_t i = 0; i < 3; ++i)
    EXPECT_NEAR(training.states["w.average"].real[i] / training.states["w"].real[i] / reached, 1, 1e-6);
}

// Before the first step the average is the parameter; what is frozen has none.
TEST(Average, BeginsWithTheParameter) {
  Training training(averaged_model("{}"));
  EXPECT_EQ(training.states.at("w.average").real, training.states.at("w").real);
  EXPECT_EQ(training.states.count("fixed.average"), 0U);
}

}  // namespace
}  // namespace heddle::frontend
