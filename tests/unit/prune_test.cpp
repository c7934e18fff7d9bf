// Pruned weights: which they are, when they are chosen, and that they stay 0 beside other settings of a training. Numbers
// of PyTorch are those of tests/numeric/shared_pytorch_test.cpp.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/unit/built_model.h"

namespace heddle::frontend {
namespace {

using Numbers = std::vector<double>;

// y = x w, against t; what else `train` has stands behind the loss.
std::string pruned(const std::string& prune, const std::string& train) {
  return model(R"("x": {"shape": ["N", 8]}, "t": {"shape": ["N", 8]})",
               R"({"name": "w", "op": "param", "shape": [8]}, {"name": "y", "op": "mul", "in": ["x", "w"]})",
               fmt::format(R"(, "train": {{"batch": {{"N": 4}}, "prune": {{"match": "w", {}}}, {}}})", prune, train));
}

const std::string kLoss = R"("loss": {"op": "mse", "in": ["y", "t"]}, )";

ir::NamedTensors rows() {
  return {{"x", tensor({ir::DType::f32, {4, 8}}, wave)},
          {"t", tensor({ir::DType::f32, {4, 8}}, [](int64_t i) { return wave(i + 9); })}};
}

int64_t zeros(const Numbers& v) { return std::ranges::count(v, 0.0); }

// How many are pruned behind each step.
std::vector<int64_t> zeros_of_steps(const std::string& text, int steps) {
  Training training(text);
  std::vector<int64_t> found;
  for (int i = 0; i < steps; ++i) {
    training.step(rows());
    found.push_back(zeros(training.states["w"].real));
    EXPECT_EQ(std::ranges::count(training.states["w.pruned"].integer, 1), found.back());
  }
  return found;
}

TEST(Prune, TakesTheSmallestAndOfEqualOnesTheFirst) {
  Training training(
      pruned(R"("amount": 0.5, "begin": 1, "end": 1)", kLoss + R"("optimizer": {"op": "sgd", "lr": 1e-30})"));
  training.states["w"].real = {2, -1, 3, 1, -1, 0.5, 1, 4};
  training.step(rows());
  EXPECT_EQ(training.states["w"].real, (Numbers{2, 0, 3, 0, 0, 0, 1, 4}));
}

// Of 8 weights round(8 s): s = 3/4 (1 - (1 - t / 6)^3) is 0.528 behind step 2, 0.722 behind step 4.
TEST(Prune, FollowsTheCubicSchedule) {
  const std::string sgd = kLoss + R"("optimizer": {"op": "sgd", "lr": 0.01})";
  EXPECT_EQ(zeros_of_steps(pruned(R"("amount": 0.75, "end": 6, "every": 2)", sgd), 8),
            (std::vector<int64_t>{0, 4, 4, 6, 6, 6, 6, 6}));
  // The end counts where `every` does not meet it, and nothing is pruned where it begins.
  EXPECT_EQ(zeros_of_steps(pruned(R"("amount": 0.75, "begin": 2, "end": 5, "every": 2)", sgd), 6),
            (std::vector<int64_t>{0, 0, 0, 6, 6, 6}));
}

// Moments, decay and averages bring nothing back, and the metric tells the share.
TEST(Prune, StaysZeroWithMomentsAndAverages) {
  Training training(pruned(R"("amount": 0.5, "begin": 3, "end": 3)",
                           kLoss + R"("optimizer": {"op": "adamw", "lr": 0.05}, "average": {"decay": 0.9})"));
  for (int i = 0; i < 9; ++i) {
    training.step(rows());
    if (i < 2) continue;
    for (size_t k = 0; k < 8; ++k) {
      const bool gone = training.states["w.pruned"].integer[k] == 1;
      EXPECT_EQ(training.states["w"].real[k] == 0, gone);
      EXPECT_EQ(training.states["w.average"].real[k] == 0, gone);
    }
  }
  EXPECT_EQ(training.metrics().back().at(0), 0.5);
  training.run("take_average");
  EXPECT_EQ(zeros(training.states["w"].real), 4);
}

// Micro-batches choose what the whole batch chooses.
TEST(Prune, IsThatOfTheWholeStepByMicroBatches) {
  const auto after = [](const std::string& accumulate) {
    Training training(pruned(R"("amount": 0.5, "end": 3, "every": 1)",
                             kLoss + accumulate + R"("optimizer": {"op": "adam", "lr": 0.05})"));
    for (int i = 0; i < 4; ++i) training.step(rows());
    return training.states["w"].real;
  };
  const Numbers whole = after(""), parts = after(R"("accumulate": 2, )");
  for (size_t k = 0; k < 8; ++k) EXPECT_NEAR(whole[k], parts[k], 1e-9);
  EXPECT_EQ(zeros(parts), 4);
}

// A phase that runs at each second step counts the steps at which it runs.
TEST(Prune, CountsTheStepsOfItsPhase) {
  const std::string phases =
      R"("phases": [{"parameters": "w", "every": 2, "loss": {"op": "mse", "in": ["y", "t"]}, "optimizer": "sgd"}])";
  EXPECT_EQ(zeros_of_steps(pruned(R"("amount": 0.5, "begin": 2, "end": 2)", phases), 6),
            (std::vector<int64_t>{0, 0, 0, 4, 4, 4}));
}

// A norm cuts the gradients of what is left alone.
TEST(Prune, GradientsOfPrunedWeightsAreNoPartOfTheNorm) {
  Training training(pruned(R"("amount": 0.9, "begin": 1, "end": 1)",
                           kLoss + R"("gradient_norm": true, "optimizer": {"op": "sgd", "lr": 1e-30})"));
  const auto norm = [&] { return training.step(rows()).outputs.back().at(0); };
  const double before = norm(), behind = norm();
  EXPECT_GT(before, 0);
  EXPECT_LT(behind, 0.9 * before);
}

}  // namespace
}  // namespace heddle::frontend
