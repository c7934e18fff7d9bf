// How weights that are made of other parameters start (frontend/weight_norms.h). Their training is compared with
// PyTorch's in tests/numeric/shared_pytorch_test.cpp.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/unit/built_model.h"

namespace heddle::frontend {
namespace {

const std::string kTrain =
    R"(, "train": {"batch": {"N": 2}, "loss": {"op": "value", "in": "end"}, "optimizer": {"op": "sgd", "lr": 0.1}})";
const std::string kEnd = R"(, {"name": "square", "op": "square"}, {"name": "end", "op": "mean"})";
const std::string kWeight = ".parametrizations.weight.";

TEST(WeightNorms, StartAsTheDrawnWeight) {
  const Training training(
      model(R"("x": {"shape": ["N", 6, 5, 2]})",
            R"({"name": "c", "op": "conv2d", "filters": 4, "kernel": 3, "weight_norm": {"axis": 1}})" + kEnd, kTrain));
  const std::vector<double>& g = training.states.at("c" + kWeight + "original0").real;
  const std::vector<double>& v = training.states.at("c" + kWeight + "original1").real;
  ASSERT_EQ(g.size(), 2U);
  for (size_t channel = 0; channel < 2; ++channel) {
    double sum = 0;
    for (size_t i = channel; i < v.size(); i += 2) sum += v[i] * v[i];  // in memory channels lie last
    EXPECT_NEAR(g[channel], std::sqrt(sum), 1e-6);
  }
}

// v = W^T u / |W^T u|, as the last of the first iterations left it, and u . W v near the largest singular value.
TEST(WeightNorms, BeginAfterPowerIterations) {
  const Training training(model(R"("x": {"shape": ["N", 3]})",
                                R"({"name": "d", "op": "dense", "units": 2, "spectral_norm": true})" + kEnd, kTrain));
  const std::vector<double>& w = training.states.at("d" + kWeight + "original").real;
  const std::vector<double>& u = training.states.at("d" + kWeight + "0._u").real;
  const std::vector<double>& v = training.states.at("d" + kWeight + "0._v").real;
  ASSERT_EQ(u.size(), 2U);
  ASSERT_EQ(v.size(), 3U);
  EXPECT_NEAR(std::hypot(u[0], u[1]), 1, 1e-6);
  EXPECT_NEAR(std::hypot(v[0], v[1], v[2]), 1, 1e-6);
  std::vector<double> wu(3);
  for (size_t i = 0; i < 3; ++i) wu[i] = w[i] * u[0] + w[3 + i] * u[1];
  const double sigma = std::hypot(wu[0], wu[1], wu[2]);
  for (size_t i = 0; i < 3; ++i) EXPECT_NEAR(v[i], wu[i] / sigma, 1e-6);
  double all = 0;
  for (const double x : w) all += x * x;
  EXPECT_LE(sigma, std::sqrt(all) + 1e-6);
  EXPECT_GE(sigma, std::sqrt(all / 2) - 1e-6);  // one of two singular values is at least this
}

TEST(WeightNorms, KeepRowsOfPaddingFinite) {
  Training training(model(
      R"("i": {"shape": ["N"], "dtype": "i32"})",
      R"({"name": "e", "op": "embedding", "vocab": 3, "units": 2, "padding": 1, "weight_norm": true})" + kEnd, kTrain));
  const ir::NamedTensors in = {{"i", tensor({ir::DType::i32, {2}}, [](int64_t i) { return static_cast<double>(i); })}};
  for (int step = 0; step < 2; ++step) training.step(in);
  for (const char* name : {"original0", "original1"})
    for (const double x : training.states.at("e" + kWeight + name).real) EXPECT_TRUE(std::isfinite(x)) << name;
  EXPECT_EQ(training.states.at("e" + kWeight + "original0").real.at(1), 0);
}

}  // namespace
}  // namespace heddle::frontend
