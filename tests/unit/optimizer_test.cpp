// sgd, adam, clipping, constant and cosine rates, against the formulas of torch.optim written out.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "frontend/initializer.h"
#include "tests/support/host_run.h"
#include "tests/unit/followed_training.h"

namespace heddle::frontend {
namespace {

using ir::NamedTensors;

TEST(Optimizer, Sgd) {
  follow(R"("optimizer": {"op": "sgd", "lr": 0.1, "weight_decay": 0.2})", [](auto& w, auto g, int) {
    for (size_t i = 0; i < 3; ++i) w[i] -= 0.1 * (g[i] + 0.2 * w[i]);
  });
}

TEST(Optimizer, SgdMomentum) {
  for (const bool nesterov : {false, true}) {
    std::vector<double> v(3, 0);
    follow(
        fmt::format(R"("optimizer": {{"op": "sgd", "lr": 0.1, "momentum": 0.9, "nesterov": {}, "weight_decay": 0.01}})",
                    nesterov),
        [&](auto& w, auto g, int) {
          for (size_t i = 0; i < 3; ++i) {
            g[i] += 0.01 * w[i];
            v[i] = 0.9 * v[i] + g[i];
            w[i] -= 0.1 * (nesterov ? g[i] + 0.9 * v[i] : v[i]);
          }
        });
  }
}

// torch.optim.SGD: the first velocity is the gradient, undamped.
TEST(Optimizer, SgdDampening) {
  std::vector<double> v(3, 0);
  follow(R"("optimizer": {"op": "sgd", "lr": 0.1, "momentum": 0.9, "dampening": 0.3, "weight_decay": 0.01})",
         [&](auto& w, auto g, int step) {
           for (size_t i = 0; i < 3; ++i) {
             g[i] += 0.01 * w[i];
             v[i] = step == 0 ? g[i] : 0.9 * v[i] + (1 - 0.3) * g[i];
             w[i] -= 0.1 * v[i];
           }
         });
}

TEST(Optimizer, AdamByDefault) {
  std::vector<double> m(3, 0), v(3, 0);
  follow(R"("optimizer": "adam")", [&](auto& w, auto g, int step) {
    for (size_t i = 0; i < 3; ++i) {
      m[i] = 0.9 * m[i] + (1 - 0.9) * g[i];
      v[i] = 0.999 * v[i] + (1 - 0.999) * g[i] * g[i];
      const double c1 = 1 - std::pow(0.9, step + 1), c2 = 1 - std::pow(0.999, step + 1);
      w[i] -= 1e-3 / c1 * m[i] / (std::sqrt(v[i]) / std::sqrt(c2) + 1e-8);
    }
  });
}

TEST(Optimizer, Adam) {
  for (const std::string op : {"adam", "adamw"}) {
    std::vector<double> m(3, 0), v(3, 0);
    follow(
        fmt::format(
            R"("optimizer": {{"op": "{}", "lr": 0.05, "betas": [0.8, 0.95], "eps": 1e-3, "weight_decay": 0.1}})", op),
        [&](auto& w, auto g, int step) {
          for (size_t i = 0; i < 3; ++i) {
            if (op == "adam") g[i] += 0.1 * w[i];
            if (op == "adamw") w[i] *= 1 - 0.05 * 0.1;
            m[i] = 0.8 * m[i] + 0.2 * g[i];
            v[i] = 0.95 * v[i] + 0.05 * g[i] * g[i];
            const double c1 = 1 - std::pow(0.8, step + 1), c2 = 1 - std::pow(0.95, step + 1);
            w[i] -= 0.05 / c1 * m[i] / (std::sqrt(v[i]) / std::sqrt(c2) + 1e-3);
          }
        });
  }
}

// Nothing of the moments is kept: the step is that of the gradient's sign, but for eps.
TEST(Optimizer, AdamWithoutMemory) {
  follow(R"("optimizer": {"op": "adam", "lr": 0.05, "betas": [0, 0], "eps": 1e-3})", [](auto& w, auto g, int) {
    for (size_t i = 0; i < 3; ++i) w[i] -= 0.05 * g[i] / (std::abs(g[i]) + 1e-3);
  });
}

// AdamW decays by 0.01 where nothing is said, Adam does not (AdamByDefault).
TEST(Optimizer, AdamwByDefault) {
  std::vector<double> m(3, 0), v(3, 0);
  follow(R"("optimizer": {"op": "adamw", "lr": 0.05})", [&](auto& w, auto g, int step) {
    for (size_t i = 0; i < 3; ++i) {
      w[i] *= 1 - 0.05 * 0.01;
      m[i] = 0.9 * m[i] + (1 - 0.9) * g[i];
      v[i] = 0.999 * v[i] + (1 - 0.999) * g[i] * g[i];
      const double c1 = 1 - std::pow(0.9, step + 1), c2 = 1 - std::pow(0.999, step + 1);
      w[i] -= 0.05 / c1 * m[i] / (std::sqrt(v[i]) / std::sqrt(c2) + 1e-8);
    }
  });
}

TEST(Optimizer, ClipsTheGlobalNorm) {
  follow(R"("clip_norm": 0.05, "optimizer": {"op": "sgd", "lr": 0.1})", [](auto& w, auto g, int) {
    const double norm = std::sqrt(std::inner_product(g.begin(), g.end(), g.begin(), 0.0));
    EXPECT_GT(norm, 0.05);  // or the test would not see the clipping
    for (size_t i = 0; i < 3; ++i) w[i] -= 0.1 * g[i] * std::min(1.0, 0.05 / (norm + 1e-6));
  });
  follow(R"("clip_norm": 100, "optimizer": {"op": "sgd", "lr": 0.1})", [](auto& w, auto g, int) {
    for (size_t i = 0; i < 3; ++i) w[i] -= 0.1 * g[i];
  });
}

TEST(Optimizer, Cosine) {
  follow(R"("steps": 5, "optimizer": {"op": "sgd", "lr": {"op": "cosine", "peak": 0.2, "min": 0.02, "warmup": 2}})",
         [](auto& w, auto g, int step) {
           const double t = std::min(1.0, (step - 2) / 3.0);  // 5 steps, 2 of them warm-up
           const double lr =
               step < 2 ? 0.2 * (step + 1) / 3 : 0.02 + 0.18 * 0.5 * (1 + std::cos(3.141592653589793 * t));
           for (size_t i = 0; i < 3; ++i) w[i] -= lr * g[i];
         });
  // The rate stays where it ends: 4 steps, of which 2 are the cosine, then two more.
  follow(R"("steps": 4, "optimizer": {"op": "sgd", "lr": {"op": "cosine", "peak": 0.2, "min": 0.02, "warmup": 2}})",
         [](auto& w, auto g, int step) {
           const double lr = step < 2 ? 0.2 * (step + 1) / 3 : step == 2 ? 0.2 : step == 3 ? 0.11 : 0.02;
           for (size_t i = 0; i < 3; ++i) w[i] -= lr * g[i];
         });
}

TEST(Optimizer, ConstantWithWarmup) {
  follow(R"("optimizer": {"op": "sgd", "lr": {"op": "constant", "value": 0.2, "warmup": 3}})",
         [](auto& w, auto g, int step) {
           for (size_t i = 0; i < 3; ++i) w[i] -= (step < 3 ? 0.2 * (step + 1) / 4 : 0.2) * g[i];
         });
}

// "matrices" spares biases; frozen parameters have no update at all.
TEST(Optimizer, DecayOfMatricesAndFreezing) {
  const std::string inputs = R"("x": {"shape": ["N", 2], "dtype": "f32"}, "t": {"shape": ["N", 2], "dtype": "f32"})";
  const std::string nodes = R"({"name": "a", "op": "dense", "in": "x", "units": 2, "bias_init": "ones"},
                               {"name": "y", "op": "dense", "units": 2, "bias_init": "ones"})";
  Training training(
      model(inputs, nodes, R"(, "train": {"batch": {"N": 1}, "freeze": ["a.*"], "loss": {"op": "mse", "in": ["y", "y"]},
                                             "optimizer": {"op": "sgd", "lr": 0.5, "weight_decay": 0.1, "decay": "matrices"}})"));
  const std::vector<double> before = training.states["y.weight"].real, frozen = training.states["a.weight"].real;
  NamedTensors x;
  x["x"] = tensor({ir::DType::f32, {1, 2}}, wave);
  training.step(x);  // mse of y and y: no gradient, decay alone
  EXPECT_EQ(training.states["a.weight"].real, frozen);
  for (size_t i = 0; i < before.size(); ++i)
    EXPECT_NEAR(training.states["y.weight"].real[i], before[i] * (1 - 0.5 * 0.1), 1e-15);
  EXPECT_EQ(training.states["y.bias"].real, (std::vector<double>{1, 1}));
}

// Groups against PyTorch 2.15 in float64 after 20 steps: parameter groups of v, of u and of w, in this order, with
// lr=0.05 (and weight_decay=0.1 for AdamW), mse_loss(x * w + v + u * u, t).
TEST(Optimizer, Groups) {
  struct Case {
    std::string optimizer;
    std::vector<double> w, v, u;
  };
  const std::vector<Case> cases = {
      {R"("adamw", "weight_decay": 0.1, "groups": [{"match": "v", "lr": 0.2, "weight_decay": 0}, {"match": ["u"], "betas": [0.5, 0.9]}])",
       {0.37103154683271211, -0.61362267813797611, 1.0835030730371156},
       {-0.46847150278469729, -0.98087940241213711, -3.0206592832568799},
       {0.87517504074941854, 1.3196049384605602, -1.5645045305716357}},
      {R"("nadam", "groups": [{"match": "v", "momentum_decay": 0.1}, {"match": "u", "lr": 0.01, "momentum_decay": 0.02}])",
       {-0.0045440470111341637, -1.4149057721407232, 1.2555734209025009},
       {-0.29979326689172253, -0.20166711205229632, -1.2820880451414054},
       {0.89294821389369738, 1.3623464153821296, -1.8456316298500774}},
      {R"("sgd", "groups": [{"match": "v", "momentum": 0.9, "dampening": 0.2}, {"match": "u", "weight_decay": 0.3}])",
       {0.48979867379437153, -0.81291868208540863, 1.6465597919610122},
       {-0.37132027773270659, -0.30389579496248542, -1.722657723681013},
       {0.67134084490861412, 0.97627877573044819, -1.1909518136711763}}};
  for (const Case& c : cases) {
    Training training(model(
        R"("x": {"shape": ["N", 3]}, "t": {"shape": ["N", 3]})",
        R"({"name": "w", "op": "param", "shape": [3]}, {"name": "v", "op": "param", "shape": [3]},
           {"name": "u", "op": "param", "shape": [3]}, {"name": "xw", "op": "mul", "in": ["x", "w"]},
           {"name": "uu", "op": "mul", "in": ["u", "u"]}, {"name": "some", "op": "add", "in": ["xw", "v"]},
           {"name": "y", "op": "add", "in": ["some", "uu"]})",
        R"(, "train": {"batch": {"N": 2}, "loss": {"op": "mse", "in": ["y", "t"]}, "optimizer": {"lr": 0.05, "op": )" +
            c.optimizer + "}}"));
    training.states["w"].real = {0.5, -1.0, 2.0};
    training.states["v"].real = {0.25, 0.5, -0.5};
    training.states["u"].real = {1.0, 1.5, -2.0};
    const NamedTensors in = {{"x", tensor({ir::DType::f32, {2, 3}}, wave)},
                             {"t", tensor({ir::DType::f32, {2, 3}}, [](int64_t i) { return wave(i + 9); })}};
    for (int step = 0; step < 20; ++step) training.step(in);
    const auto expect = [&](const std::string& name, const std::vector<double>& values) {
      for (size_t i = 0; i < 3; ++i)
        EXPECT_NEAR(training.states[name].real[i], values[i], 1e-9) << c.optimizer << name << i;
    };
    expect("w", c.w), expect("v", c.v), expect("u", c.u);
  }
}

// A group without a rate of its own has the optimizer's, a schedule too; of two that match, the first counts.
TEST(Optimizer, RatesOfGroups) {
  follow(R"("steps": 4, "optimizer": {"op": "sgd", "lr": {"op": "linear", "peak": 0.2},
                                      "groups": [{"match": "?", "weight_decay": 0.5}]})",
         [](auto& w, auto g, int step) {
           for (size_t i = 0; i < 3; ++i) w[i] -= 0.2 * std::max(0.0, 1 - step / 4.0) * (g[i] + 0.5 * w[i]);
         });
  follow(
      R"("steps": 4, "optimizer": {"op": "sgd", "lr": 7, "groups": [{"match": "*", "lr": {"op": "linear", "peak": 0.2}}]})",
      [](auto& w, auto g, int step) {
        for (size_t i = 0; i < 3; ++i) w[i] -= 0.2 * std::max(0.0, 1 - step / 4.0) * g[i];
      });
}

// Three layers, one step of which every weight gets a gradient: which of them the patterns keep, and which they let go.
void expect_frozen(const std::string& second, const std::string& patterns, const std::vector<std::string>& frozen,
                   const std::vector<std::string>& free) {
  const std::string inputs = R"("x": {"shape": ["N", 2], "dtype": "f32"}, "t": {"shape": ["N", 2], "dtype": "f32"})";
  const std::string nodes = R"({"name": "a", "op": "dense", "in": "x", "units": 2}, {"name": ")" + second +
                            R"(", "op": "dense", "units": 2}, {"name": "y", "op": "dense", "units": 2})";
  Training training(model(inputs, nodes, R"(, "train": {"batch": {"N": 1}, "freeze": )" + patterns + R"(,
      "loss": {"op": "mse", "in": ["y", "t"]}, "optimizer": {"op": "sgd", "lr": 0.5}})"));
  const NamedTensors before = training.states;
  NamedTensors in;
  in["x"] = tensor({ir::DType::f32, {1, 2}}, wave);
  in["t"] = tensor({ir::DType::f32, {1, 2}}, [](int64_t i) { return wave(i + 9); });
  training.step(in);
  for (const std::string& name : frozen) EXPECT_EQ(training.states[name].real, before.at(name).real) << name;
  for (const std::string& name : free) EXPECT_NE(training.states[name].real, before.at(name).real) << name;
}

// Each pattern of "freeze" counts, not only the first.
TEST(Optimizer, EveryFreezePatternFreezes) {
  expect_frozen("b", R"(["a.*", "b.weight", "?.bias"])", {"a.weight", "a.bias", "b.weight", "b.bias", "y.bias"},
                {"y.weight"});
}

// '*' also stands for nothing, and for as many characters as it takes to reach what follows it.
TEST(Optimizer, StarsOfFreezePatternsTakeAnyLength) {
  expect_frozen("bc", R"(["a.weight*", "*.bias"])", {"a.weight", "a.bias", "bc.bias", "y.bias"},
                {"bc.weight", "y.weight"});
}

// A window multiplies both fans: PyTorch's _calculate_fan_in_and_fan_out.
TEST(Initializer, FansCountTheWindow) {
  const auto expect = [](const ir::Dims& dims, double in, double out) {
    EXPECT_EQ(fans(dims).in, in) << ir::to_string(dims);
    EXPECT_EQ(fans(dims).out, out) << ir::to_string(dims);
  };
  expect({}, 1, 1);
  expect({7}, 7, 7);
  expect({8, 4}, 4, 8);
  expect({8, 4, 3, 5}, 60, 120);
}

// 4,096 draws of a weight [32,128], whose fans are 128 and 32. A mean is off by its standard error, a variance by
// sqrt(2 / 4096) of itself or less; the bounds are five times that.
TEST(Initializer, DrawsHaveTheirMeanAndVariance) {
  struct Case {
    std::string init;
    double mean, variance;
  };
  const std::vector<Case> cases = {{R"("glorot_uniform")", 0, 2.0 / 160},
                                   {R"("glorot_normal")", 0, 2.0 / 160},
                                   {R"("he_uniform")", 0, 2.0 / 128},
                                   {R"("he_normal")", 0, 2.0 / 128},
                                   {R"("kaiming_uniform")", 0, 2.0 / 128},
                                   {R"("kaiming_normal")", 0, 2.0 / 128},
                                   {R"({"op": "normal", "mean": 2, "std": 0.5})", 2, 0.25},
                                   {R"({"op": "normal", "mean": -3})", -3, 1},
                                   {R"({"op": "uniform", "low": -1, "high": 3})", 1, 16.0 / 12}};
  for (const Case& c : cases) {
    const Training training(
        model(R"("x": {"shape": ["N", 128], "dtype": "f32"})",
              R"({"name": "y", "op": "dense", "units": 32, "init": )" + c.init + "}",
              R"(, "train": {"batch": {"N": 2}, "loss": {"op": "mse", "in": ["y", "y"]}, "optimizer": "sgd"})"));
    const std::vector<double>& w = training.states.at("y.weight").real;
    ASSERT_EQ(w.size(), 4096U);
    double sum = 0, squares = 0;
    for (const double x : w) sum += x, squares += (x - c.mean) * (x - c.mean);
    EXPECT_NEAR(sum / 4096, c.mean, 5 * std::sqrt(c.variance / 4096)) << c.init;
    EXPECT_NEAR(squares / 4096 / c.variance, 1, 5 * std::sqrt(2.0 / 4096)) << c.init;
  }
}

// The distribution of what is drawn is that of the normal one between its ends: at any x, the share of draws below
// is what erf says. 4,096 draws are off by 0.5 / sqrt(4096) or less; the bound is four times that.
TEST(Initializer, TruncatedNormal) {
  struct Case {
    double mean, deviation, low, high;
  };
  for (const Case c : {Case{0, 1, -2, 2}, Case{0.5, 2, -1, 6}, Case{0, 0.02, -2, 2}}) {
    const std::string init = fmt::format(R"({{"op": "truncated_normal", "mean": {}, "std": {}, "a": {}, "b": {}}})",
                                         c.mean, c.deviation, c.low, c.high);
    const Training training(
        model(R"("x": {"shape": ["N", 128], "dtype": "f32"})",
              R"({"name": "y", "op": "dense", "units": 32, "init": )" + init + "}",
              R"(, "train": {"batch": {"N": 2}, "loss": {"op": "mse", "in": ["y", "y"]}, "optimizer": "sgd"})"));
    const std::vector<double>& w = training.states.at("y.weight").real;
    const auto below = [&](double x) { return std::erf((x - c.mean) / c.deviation / std::sqrt(2.0)); };
    for (const double at : {-1.5, -1.0, -0.5, 0.0, 0.3, 0.8, 1.4, 1.9}) {
      const double x = c.mean + at * c.deviation;
      if (x < c.low) continue;
      const auto count = std::count_if(w.begin(), w.end(), [&](double v) { return v < x; });
      EXPECT_NEAR(static_cast<double>(count) / 4096, (below(x) - below(c.low)) / (below(c.high) - below(c.low)),
                  4 * 0.5 / 64)
          << init << " " << at;
    }
    EXPECT_GE(*std::min_element(w.begin(), w.end()), c.low);
    EXPECT_LE(*std::max_element(w.begin(), w.end()), c.high);
  }
}

// Parameters of one shape do not begin with the same numbers.
TEST(Initializer, EachParameterDrawsItsOwn) {
  const Training training(
      model(R"("x": {"shape": ["N", 4], "dtype": "f32"})",
            R"({"name": "a", "op": "dense", "units": 4}, {"name": "b", "op": "dense", "units": 4})",
            R"(, "train": {"batch": {"N": 2}, "loss": {"op": "mse", "in": ["a", "b"]}, "optimizer": "sgd"})"));
  EXPECT_NE(training.states.at("a.weight").real, training.states.at("b.weight").real);
}

// The initial values of a parameter that a node `param` draws.
std::vector<double> drawn(const std::string& shape, const std::string& init) {
  const Training training(model(
      R"("x": {"shape": ["N", 1]})",
      fmt::format(R"({{"name": "w", "op": "param", "shape": {}, "init": {}}}, {{"name": "s", "op": "sum", "in": "w"}},
                           {{"name": "y", "op": "mul", "in": ["x", "s"]}})",
                  shape, init),
      R"(, "train": {"batch": {"N": 2}, "loss": {"op": "mse", "in": ["y", "x"]}, "optimizer": "sgd"})"));
  return training.states.at("w").real;
}

// keras.initializers.VarianceScaling: the variance is scale / n, also of the truncated normal; n of [32,64,2] are 128
// inputs and 64 outputs.
TEST(Initializer, VarianceScaling) {
  struct Case {
    std::string settings;
    double variance, most;  // `most`: what no draw exceeds
  };
  const double inf = std::numeric_limits<double>::infinity();
  const double truncated = 2 / 0.87962566103423978;
  const std::vector<Case> cases = {{R"("scale": 1)", 1.0 / 128, truncated * std::sqrt(1.0 / 128)},
                                   {R"("scale": 2, "mode": "fan_out")", 2.0 / 64, truncated * std::sqrt(2.0 / 64)},
                                   {R"("mode": "fan_avg", "distribution": "uniform")", 1.0 / 96, std::sqrt(3.0 / 96)},
                                   {R"("scale": 0.5, "distribution": "untruncated_normal")", 0.5 / 128, inf}};
  for (const Case& c : cases) {
    const std::vector<double> w = drawn("[32, 64, 2]", R"({"op": "variance_scaling", )" + c.settings + "}");
    ASSERT_EQ(w.size(), 4096U);
    double sum = 0, squares = 0, most = 0;
    for (const double x : w) sum += x, squares += x * x, most = std::max(most, std::abs(x));
    EXPECT_NEAR(sum / 4096, 0, 5 * std::sqrt(c.variance / 4096)) << c.settings;
    EXPECT_NEAR(squares / 4096 / c.variance, 1, 5 * std::sqrt(2.0 / 4096)) << c.settings;
    EXPECT_LE(most, c.most * (1 + 1e-9)) << c.settings;
  }
}

// w w^t or w^t w, whichever is smaller, is gain^2 times the unit matrix.
void expect_orthogonal(const std::vector<double>& w, size_t rows, size_t columns, double gain, double tolerance) {
  ASSERT_EQ(w.size(), rows * columns);
  const bool wide = rows <= columns;
  const size_t n = wide ? rows : columns, k = wide ? columns : rows;
  const auto at = [&](size_t i, size_t j) { return wide ? w[i * columns + j] : w[j * columns + i]; };
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j <= i; ++j) {
      double product = 0;
      for (size_t l = 0; l < k; ++l) product += at(i, l) * at(j, l);
      ASSERT_NEAR(product, i == j ? gain * gain : 0, tolerance) << rows << "x" << columns << ": " << i << ", " << j;
    }
}

TEST(Initializer, Orthogonal) {
  expect_orthogonal(drawn("[1, 1]", R"("orthogonal")"), 1, 1, 1, 1e-12);
  expect_orthogonal(drawn("[7, 7]", R"("orthogonal")"), 7, 7, 1, 1e-12);
  expect_orthogonal(drawn("[40, 40]", R"({"op": "orthogonal", "gain": 2.5})"), 40, 40, 2.5, 1e-10);
  expect_orthogonal(drawn("[5, 24]", R"("orthogonal")"), 5, 24, 1, 1e-12);
  expect_orthogonal(drawn("[24, 5]", R"("orthogonal")"), 24, 5, 1, 1e-12);
  expect_orthogonal(drawn("[6, 2, 3, 3]", R"("orthogonal")"), 6, 18, 1, 1e-12);
  EXPECT_NE(drawn("[7, 7]", R"("orthogonal")"), drawn("[7, 7]", R"({"op": "orthogonal", "gain": 1.5})"));
}

// No rotation changes the distribution, so that an element of an n x n matrix has mean 0 and
// variance 1 / n wherever it stands, the diagonal too: a QR decomposition whose signs are left as
// they come has one of one sign. Of 300 matrices a mean is off by sqrt(1 / n / 300), a variance by
// less than sqrt(2 / 300) of itself; the bounds are five times that.
TEST(Initializer, OrthogonalIsUniform) {
  constexpr int kMatrices = 300, kSize = 3;
  std::string nodes, sum = R"({"name": "s0", "op": "mul", "in": ["x", 1]})";
  for (int i = 0; i < kMatrices; ++i) {
    nodes += fmt::format(R"({{"name": "w{}", "op": "param", "shape": [3, 3], "init": "orthogonal"}}, )", i);
    sum += fmt::format(R"(, {{"name": "s{}", "op": "add", "in": ["s{}", "w{}"]}})", i + 1, i, i);
  }
  const Training training(model(
      R"("x": {"shape": ["N", 3]})", nodes + sum,
      fmt::format(
          R"(, "train": {{"batch": {{"N": 3}}, "loss": {{"op": "mse", "in": ["s{}", "s{}"]}}, "optimizer": "sgd"}})",
          kMatrices, kMatrices)));
  for (size_t at = 0; at < kSize * kSize; ++at) {
    double mean = 0, squares = 0;
    for (int i = 0; i < kMatrices; ++i) {
      const double v = training.states.at(fmt::format("w{}", i)).real.at(at);
      mean += v / kMatrices, squares += v * v / kMatrices;
    }
    EXPECT_NEAR(mean, 0, 5 * std::sqrt(1.0 / kSize / kMatrices)) << at;
    EXPECT_NEAR(squares * kSize, 1, 5 * std::sqrt(2.0 / kMatrices)) << at;
  }
}

TEST(Initializer, OrthogonalOnTheHost) {
  const auto built =
      build(model(R"("x": {"shape": ["N", 96]})", R"({"name": "y", "op": "dense", "units": 96, "init": "orthogonal"})",
                  R"(, "train": {"batch": {"N": 2}, "loss": {"op": "mse", "in": ["y", "x"]}, "optimizer": "sgd"})"));
  testing::HostRun run(built->module, "init");
  expect_orthogonal(run({}).updated.at("y.weight").real, 96, 96, 1, 1e-5);
}

}  // namespace
}  // namespace heddle::frontend
