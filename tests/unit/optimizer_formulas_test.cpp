// The optimizers beside sgd and adam over 100 steps, against the formulas of torch.optim and of the papers written out.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/unit/followed_training.h"

namespace heddle::frontend {
namespace {

using Vector = std::vector<double>;

constexpr int kSteps = 100;
constexpr double kNear = 1e-9;

std::string optimizer(const std::string& settings) { return R"("optimizer": {"op": )" + settings + "}"; }

TEST(OptimizerFormula, Rmsprop) {
  struct Case {
    double momentum;
    bool centered;
  };
  for (const Case c : {Case{0, false}, Case{0.9, false}, Case{0, true}, Case{0.8, true}}) {
    Vector v(3, 0), mean(3, 0), buffer(3, 0);
    follow(
        optimizer(fmt::format(
            R"("rmsprop", "lr": 0.02, "alpha": 0.9, "eps": 1e-6, "momentum": {}, "centered": {}, "weight_decay": 0.05)",
            c.momentum, c.centered)),
        [&](Vector& w, Vector g, int) {
          for (size_t i = 0; i < 3; ++i) {
            g[i] += 0.05 * w[i];
            v[i] = 0.9 * v[i] + 0.1 * g[i] * g[i];
            mean[i] = 0.9 * mean[i] + 0.1 * g[i];
            const double direction = g[i] / (std::sqrt(c.centered ? v[i] - mean[i] * mean[i] : v[i]) + 1e-6);
            buffer[i] = c.momentum * buffer[i] + direction;
            w[i] -= 0.02 * buffer[i];
          }
        },
        kSteps, kNear);
  }
}

// Gradients that are always the same have a variance of 0, and rounding must not make less of it.
TEST(OptimizerFormula, RmspropOfConstantGradients) {
  Training training(model(
      R"("x": {"shape": ["N", 64]})",
      R"({"name": "w", "op": "param", "shape": [64], "init": "zeros"}, {"name": "y", "op": "mul", "in": ["x", "w"]}, {"name": "s", "op": "sum"})",
      R"(, "train": {"batch": {"N": 1}, "loss": {"op": "value", "in": ["s"]},
          "optimizer": {"op": "rmsprop", "lr": 1e-3, "alpha": 0.5, "centered": true}})"));
  training.precision = ir::Precision::rounded;
  const ir::NamedTensors in = {{"x", tensor({ir::DType::f32, {1, 64}}, [](int64_t i) {
                                  return static_cast<float>(0.37 + static_cast<double>(i));
                                })}};
  for (int step = 0; step < 60; ++step) training.step(in);
  for (const double w : training.states["w"].real) EXPECT_TRUE(std::isfinite(w));
}

TEST(OptimizerFormula, RmspropByDefault) {
  Vector v(3, 0);
  follow(R"("optimizer": "rmsprop")",
         [&](Vector& w, const Vector& g, int) {
           for (size_t i = 0; i < 3; ++i) {
             v[i] = 0.99 * v[i] + (1 - 0.99) * g[i] * g[i];
             w[i] -= 0.01 * g[i] / (std::sqrt(v[i]) + 1e-8);
           }
         },
         kSteps, kNear);
}

TEST(OptimizerFormula, Adagrad) {
  for (const double initial : {0.0, 0.3}) {
    Vector sum(3, initial);
    follow(
        optimizer(fmt::format(
            R"("adagrad", "lr": 0.1, "lr_decay": 0.05, "initial_accumulator_value": {}, "weight_decay": 0.01)",
            initial)),
        [&](Vector& w, Vector g, int step) {
          for (size_t i = 0; i < 3; ++i) {
            g[i] += 0.01 * w[i];
            sum[i] += g[i] * g[i];
            w[i] -= 0.1 / (1 + step * 0.05) * g[i] / (std::sqrt(sum[i]) + 1e-10);
          }
        },
        kSteps, kNear);
  }
}

TEST(OptimizerFormula, Adadelta) {
  Vector squares(3, 0), changes(3, 0);
  follow(
      optimizer(R"("adadelta", "rho": 0.8, "eps": 1e-4, "weight_decay": 0.01)"),
      [&](Vector& w, Vector g, int) {
        for (size_t i = 0; i < 3; ++i) {
          g[i] += 0.01 * w[i];
          squares[i] = 0.8 * squares[i] + 0.2 * g[i] * g[i];
          const double change = std::sqrt(changes[i] + 1e-4) / std::sqrt(squares[i] + 1e-4) * g[i];
          changes[i] = 0.8 * changes[i] + 0.2 * change * change;
          w[i] -= change;  // lr is 1 by default
        }
      },
      kSteps, kNear);
}

TEST(OptimizerFormula, Adamax) {
  Vector m(3, 0), u(3, 0);
  follow(
      optimizer(R"("adamax", "betas": [0.8, 0.95], "eps": 1e-3, "weight_decay": 0.01)"),
      [&](Vector& w, Vector g, int step) {
        for (size_t i = 0; i < 3; ++i) {
          g[i] += 0.01 * w[i];
          m[i] = 0.8 * m[i] + 0.2 * g[i];
          u[i] = std::max(0.95 * u[i], std::abs(g[i]) + 1e-3);
          w[i] -= 2e-3 / (1 - std::pow(0.8, step + 1)) * m[i] / u[i];
        }
      },
      kSteps, kNear);
}

TEST(OptimizerFormula, Adabelief) {
  Vector m(3, 0), s(3, 0);
  follow(
      optimizer(R"("adabelief", "lr": 0.01, "betas": [0.8, 0.95], "eps": 1e-4, "weight_decay": 0.1)"),
      [&](Vector& w, const Vector& g, int step) {
        for (size_t i = 0; i < 3; ++i) {
          m[i] = 0.8 * m[i] + 0.2 * g[i];
          s[i] = 0.95 * s[i] + 0.05 * std::pow(g[i] - m[i], 2) + 1e-4;
          const double mean = m[i] / (1 - std::pow(0.8, step + 1)), belief = s[i] / (1 - std::pow(0.95, step + 1));
          w[i] = w[i] * (1 - 0.01 * 0.1) - 0.01 * mean / (std::sqrt(belief) + 1e-4);
        }
      },
      kSteps, kNear);
}

TEST(OptimizerFormula, Nadam) {
  for (const double beta1 : {0.0, 0.8}) {
    Vector m(3, 0), v(3, 0);
    double product = 1;
    follow(
        optimizer(fmt::format(
            R"("nadam", "lr": 0.03, "betas": [{}, 0.95], "eps": 1e-3, "momentum_decay": 0.01, "weight_decay": 0.02)",
            beta1)),
        [&](Vector& w, Vector g, int step) {
          const double t = step + 1;
          const double mu = beta1 * (1 - 0.5 * std::pow(0.96, t * 0.01));
          const double ahead = beta1 * (1 - 0.5 * std::pow(0.96, (t + 1) * 0.01));
          product *= mu;
          for (size_t i = 0; i < 3; ++i) {
            g[i] += 0.02 * w[i];
            m[i] = beta1 * m[i] + (1 - beta1) * g[i];
            v[i] = 0.95 * v[i] + 0.05 * g[i] * g[i];
            const double root = std::sqrt(v[i] / (1 - std::pow(0.95, t))) + 1e-3;
            w[i] -= 0.03 * (1 - mu) / (1 - product) * g[i] / root;
            w[i] -= 0.03 * ahead / (1 - product * ahead) * m[i] / root;
          }
        },
        kSteps, kNear);
  }
}

// 0.95 makes the average of squares long enough from the sixth step on, 0.999 from the sixth too; 0.5 never does.
TEST(OptimizerFormula, Radam) {
  for (const double beta2 : {0.95, 0.999, 0.5}) {
    Vector m(3, 0), v(3, 0);
    int rectified = 0;
    follow(
        optimizer(fmt::format(R"("radam", "lr": 0.01, "betas": [0.8, {}], "eps": 1e-3, "weight_decay": 0.02)", beta2)),
        [&](Vector& w, Vector g, int step) {
          const double t = step + 1, longest = 2 / (1 - beta2) - 1, power = std::pow(beta2, t);
          const double length = longest - 2 * t * power / (1 - power);
          rectified += length > 5;
          for (size_t i = 0; i < 3; ++i) {
            g[i] += 0.02 * w[i];
            m[i] = 0.8 * m[i] + 0.2 * g[i];
            v[i] = beta2 * v[i] + (1 - beta2) * g[i] * g[i];
            double change = 0.01 * m[i] / (1 - std::pow(0.8, t));
            if (length > 5) {
              const double above = (length - 4) * (length - 2) * longest;
              const double below = (longest - 4) * (longest - 2) * length;
              change *= std::sqrt(above / below) * std::sqrt(1 - power) / (std::sqrt(v[i]) + 1e-3);
            }
            w[i] -= change;
          }
        },
        kSteps, kNear);
    EXPECT_EQ(rectified > 0, beta2 != 0.5) << beta2;
    EXPECT_LT(rectified, kSteps) << beta2;
  }
}

// The sign of what is nearly 0 may differ in the last bits: 3 weights that do not reach their aim within 100 steps.
TEST(OptimizerFormula, Lion) {
  Vector m(3, 0);
  follow(
      optimizer(R"("lion", "lr": 0.002, "weight_decay": 0.1)"),
      [&](Vector& w, const Vector& g, int) {
        for (size_t i = 0; i < 3; ++i) {
          w[i] *= 1 - 0.002 * 0.1;
          const double mixed = 0.9 * m[i] + (1 - 0.9) * g[i];
          w[i] -= 0.002 * (mixed > 0 ? 1 : mixed < 0 ? -1 : 0);
          m[i] = 0.99 * m[i] + (1 - 0.99) * g[i];
        }
      },
      kSteps, kNear);
}

TEST(OptimizerFormula, Lamb) {
  for (const double decay : {0.0, 0.1}) {
    Vector m(3, 0), v(3, 0);
    follow(
        optimizer(fmt::format(R"("lamb", "lr": 0.01, "betas": [0.8, 0.95], "weight_decay": {})", decay)),
        [&](Vector& w, const Vector& g, int step) {
          Vector direction(3);
          double of_w = 0, of_step = 0;
          for (size_t i = 0; i < 3; ++i) {
            m[i] = 0.8 * m[i] + 0.2 * g[i];
            v[i] = 0.95 * v[i] + 0.05 * g[i] * g[i];
            const double c1 = 1 - std::pow(0.8, step + 1), c2 = 1 - std::pow(0.95, step + 1);
            direction[i] = m[i] / c1 / (std::sqrt(v[i] / c2) + 1e-6) + decay * w[i];
            of_w += w[i] * w[i];
            of_step += direction[i] * direction[i];
          }
          for (size_t i = 0; i < 3; ++i) w[i] -= 0.01 * std::sqrt(of_w) / std::sqrt(of_step) * direction[i];
        },
        kSteps, kNear);
  }
}

// A parameter of zeros has no norm: its step is as long as Adam's.
TEST(OptimizerFormula, LambMovesWhatIsZero) {
  Training training(model(
      R"("x": {"shape": ["N", 2], "dtype": "f32"}, "t": {"shape": ["N", 2], "dtype": "f32"})",
      R"({"name": "y", "op": "dense", "in": "x", "units": 2})",
      R"(, "train": {"batch": {"N": 1}, "loss": {"op": "mse", "in": ["y", "t"]}, "optimizer": {"op": "lamb", "lr": 0.5}})"));
  ir::NamedTensors in;
  in["x"] = tensor({ir::DType::f32, {1, 2}}, wave);
  in["t"] = tensor({ir::DType::f32, {1, 2}}, [](int64_t i) { return wave(i + 9); });
  training.step(in);
  for (const double b : training.states["y.bias"].real) EXPECT_NEAR(std::abs(b), 0.5, 1e-4);
}

}  // namespace
}  // namespace heddle::frontend
