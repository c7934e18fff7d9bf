// Copies that follow the parameters of another node, beside the same steps written out in double precision.
#include <gtest/gtest.h>

#include "tests/unit/built_model.h"

namespace heddle::frontend {
namespace {

// score = x w, and goal = x times the copy.
std::string follower(const std::string& how, const std::string& train) {
  return model(R"("x": {"shape": ["N", 3]}, "t": {"shape": ["N", 3]})",
               R"({"name": "w", "op": "param", "shape": [3], "init": "normal"},
                  {"name": "c", "op": "param", "share": "w", )" +
                   how + R"(}, {"name": "score", "op": "mul", "in": ["x", "w"]},
                  {"name": "goal", "op": "mul", "in": ["x", "c"]}, {"name": "off", "op": "add", "in": ["goal", "t"]})",
               R"(, "train": {"batch": {"N": 2}, )" + train + "}");
}

constexpr const char* kDescent =
    R"("loss": {"op": "mse", "in": ["score", "off"]}, "optimizer": {"op": "sgd", "lr": 0.1})";

const ir::NamedTensors kInputs = {{"x", tensor({ir::DType::f32, {2, 3}}, wave)},
                                  {"t", tensor({ir::DType::f32, {2, 3}}, [](int64_t i) { return wave(i + 9); })}};

// One step of descent by mean((x w - x c - t)^2) in w alone.
void descend(std::vector<double>& w, const std::vector<double>& c) {
  std::vector<double> sums(3, 0);
  for (size_t i = 0; i < 6; ++i) {
    const double x = kInputs.at("x").real[i], t = kInputs.at("t").real[i];
    sums[i % 3] += 2.0 / 6 * (x * w[i % 3] - x * c[i % 3] - t) * x;
  }
  for (size_t i = 0; i < 3; ++i) w[i] -= 0.1 * sums[i];
}

void expect_near(const ir::Tensor& state, const std::vector<double>& w, int step) {
  for (size_t i = 0; i < w.size(); ++i) EXPECT_NEAR(state.real[i], w[i], 1e-11) << "step " << step;
}

TEST(Copies, StartAsTheirSource) {
  Training training(follower(R"("average": 0.5)", kDescent));
  EXPECT_NE(training.states.at("w").real[0], 0);
  EXPECT_EQ(training.states.at("c").real, training.states.at("w").real);
}

TEST(Copies, TakeAPartOfTheWayToTheRenewedSource) {
  for (const double kept : {0.0, 0.25, 0.9}) {
    Training training(follower(R"("average": )" + std::to_string(kept), kDescent));
    std::vector<double> w = {0.5, -1.0, 2.0}, c = {1.5, 0.25, -0.5};
    training.states["w"].real = w, training.states["c"].real = c;
    for (int step = 1; step <= 4; ++step) {
      training.step(kInputs);
      descend(w, c);
      for (size_t i = 0; i < 3; ++i) c[i] += (w[i] - c[i]) * (1 - kept);
      expect_near(training.states["w"], w, step);
      expect_near(training.states["c"], c, step);
    }
  }
}

TEST(Copies, AreRenewedInEachNthStep) {
  Training training(follower(R"("copy": 3)", kDescent));
  std::vector<double> w = {0.5, -1.0, 2.0}, c = {1.5, 0.25, -0.5};
  training.states["w"].real = w, training.states["c"].real = c;
  for (int step = 1; step <= 7; ++step) {
    training.step(kInputs);
    descend(w, c);
    if (step % 3 == 0) c = w;
    expect_near(training.states["w"], w, step);
    expect_near(training.states["c"], c, step);
  }
}

// The second phase reads the copy as it was before the step, and the copy takes what the first has made of the source.
TEST(Copies, AreRenewedBehindAllPhases) {
  Training training(model(R"("x": {"shape": ["N", 3]})",
                          R"({"name": "w", "op": "param", "shape": [3]}, {"name": "v", "op": "param", "shape": [3]},
                             {"name": "c", "op": "param", "share": "w", "copy": 1},
                             {"op": "mul", "in": ["x", "w"]}, {"name": "a", "op": "mean"},
                             {"op": "mul", "in": ["v", "c"]}, {"name": "b", "op": "mean"})",
                          R"(, "train": {"batch": {"N": 2}, "phases": [
                             {"name": "first", "loss": {"op": "value", "in": "a"}, "parameters": "w",
                              "optimizer": {"op": "sgd", "lr": 1}},
                             {"name": "second", "loss": {"op": "value", "in": "b"}, "parameters": "v",
                              "optimizer": {"op": "sgd", "lr": 1}, "every": 2}]})"));
  std::vector<double> w = {1, 2, 3}, v = {0, 0, 0}, c = {5, 6, 7};
  training.states["w"].real = w, training.states["v"].real = v, training.states["c"].real = c;
  for (int step = 1; step <= 4; ++step) {
    training.step({{"x", kInputs.at("x")}});
    for (size_t i = 0; i < 6; ++i) w[i % 3] -= kInputs.at("x").real[i] / 6;
    for (size_t i = 0; i < 3 && step % 2 == 0; ++i) v[i] -= c[i] / 3;
    c = w;
    expect_near(training.states["w"], w, step);
    expect_near(training.states["v"], v, step);
    expect_near(training.states["c"], c, step);
  }
}

TEST(Copies, FollowWhatIsFrozen) {
  Training training(model(R"("x": {"shape": ["N", 3]})",
                          R"({"name": "w", "op": "param", "shape": [3]}, {"name": "v", "op": "param", "shape": [3]},
                             {"name": "c", "op": "param", "share": "w", "average": 0.5},
                             {"name": "vc", "op": "mul", "in": ["v", "c"]}, {"op": "mul", "in": ["vc", "w"]}, {"name": "y", "op": "mean"})",
                          R"(, "train": {"batch": {"N": 2}, "freeze": ["w"], "loss": {"op": "value", "in": "y"},
                             "optimizer": {"op": "sgd", "lr": 0.1}})"));
  training.states["w"].real = {1, 2, 3}, training.states["c"].real = {3, 4, 5};
  training.step({{"x", kInputs.at("x")}});
  expect_near(training.states["w"], {1, 2, 3}, 1);
  expect_near(training.states["c"], {2, 3, 4}, 1);
}

// A step renews one row of the source, and all rows of the copy.
TEST(Copies, FollowATableOfWhichRowsAreRenewed) {
  Training training(model(R"("i": {"shape": ["N"], "dtype": "i32"})",
                          R"({"name": "e", "op": "embedding", "vocab": 3, "units": 1, "sparse": true},
                             {"name": "f", "op": "embedding", "in": "i", "share": "e", "average": 0.5},
                             {"name": "y", "op": "sum", "in": "e"})",
                          R"(, "train": {"batch": {"N": 2}, "loss": {"op": "value", "in": "y"},
                             "optimizer": {"op": "sgd", "lr": 1}}, "outputs": {"f": "f"})"));
  training.states["e.weight"].real = {1, 2, 3}, training.states["f.weight"].real = {3, 4, 5};
  training.step({{"i", ir::Tensor({ir::DType::i32, {2}})}});  // row 0 twice, whose gradient is 2
  expect_near(training.states["e.weight"], {-1, 2, 3}, 1);
  expect_near(training.states["f.weight"], {1, 3, 4}, 1);
}

}  // namespace
}  // namespace heddle::frontend
