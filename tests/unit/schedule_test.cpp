// Learning-rate schedules, against the formulas of torch.optim.lr_scheduler written out.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "tests/unit/followed_training.h"

namespace heddle::frontend {
namespace {

std::string sgd(const std::string& schedule, int steps = 0) {
  const std::string length = steps > 0 ? "\"steps\": " + std::to_string(steps) + ", " : "";
  return length + R"("optimizer": {"op": "sgd", "lr": {"op": )" + schedule + "}}";
}

double cosine(double from, double to, double share) {
  return to + (from - to) / 2 * (1 + std::cos(std::numbers::pi * share));
}

// One weight with a gradient of 1, so that a step shows the rate; the measure is a metric of the epoch's only batch.
class PlateauTraining {
 public:
  explicit PlateauTraining(const std::string& settings)
      : training_(model(
            R"("x": {"shape": ["N"]}, "t": {"shape": ["N"]})",
            R"({"name": "w", "op": "param", "shape": [], "init": "zeros"}, {"name": "y", "op": "mul", "in": ["w", 1]})",
            R"(, "train": {"batch": {"N": 1}, "loss": {"op": "value", "in": ["y"]}, "metrics": [{"op": "mae", "in": ["x", "t"]}],
               "optimizer": {"op": "sgd", "lr": {"op": "plateau", "value": 0.2, "on": "mae", )" +
                settings + "}}}")) {}

  double rate_of_epoch(double measure) {
    training_.run("reset");
    const double before = training_.states["w"].at(0);
    training_.step({{"x", tensor({ir::DType::f32, {1}}, [&](int64_t) { return measure; })},
                    {"t", tensor({ir::DType::f32, {1}}, [](int64_t) { return 0; })}});
    training_.run("after_epoch");
    return before - training_.states["w"].at(0);
  }

 private:
  Training training_;
};

TEST(Schedule, Linear) {
  follow_rate(
      sgd(R"("linear", "peak": 0.2, "min": 0.05, "warmup": 3)", 10),
      [](int s) { return s < 3 ? 0.2 * (s + 1) / 4 : 0.2 - 0.15 * std::min(1.0, (s - 3) / 7.0); }, 13);
}

TEST(Schedule, Polynomial) {
  follow_rate(
      sgd(R"("polynomial", "peak": 0.2, "min": 0.05, "power": 2.5, "warmup": 2)", 10),
      [](int s) { return s < 2 ? 0.2 * (s + 1) / 3 : 0.05 + 0.15 * std::pow(1 - std::min(1.0, (s - 2) / 8.0), 2.5); },
      13);
}

TEST(Schedule, Exponential) {
  follow_rate(
      sgd(R"("exponential", "value": 0.2, "gamma": 0.9)"), [](int s) { return 0.2 * std::pow(0.9, s); }, 50);
  follow_rate(
      sgd(R"("exponential", "value": 0.2, "gamma": 0.9, "warmup": 4)"),
      [](int s) { return s < 4 ? 0.2 * (s + 1) / 5 : 0.2 * std::pow(0.9, s - 4); }, 20);
}

// After many steps as well, in the rate's own type.
TEST(Schedule, ExponentialInSinglePrecision) {
  Training training(
      model(R"("x": {"shape": ["N"]})",
            R"({"name": "w", "op": "param", "shape": [], "init": "zeros"}, {"name": "y", "op": "mul", "in": ["w", 1]})",
            R"(, "train": {"batch": {"N": 1}, "loss": {"op": "value", "in": ["y"]}, )" +
                sgd(R"("exponential", "value": 0.2, "gamma": 0.9999)") + "}"));
  training.precision = ir::Precision::rounded;
  training.states["step"].integer = {50'000};
  training.step({{"x", tensor({ir::DType::f32, {1}}, wave)}});
  EXPECT_NEAR(-training.states["w"].at(0) / (0.2 * std::pow(0.9999, 50'000)), 1, 1e-6);
}

TEST(Schedule, Step) {
  follow_rate(
      sgd(R"("step", "value": 0.2, "steps": 7)"), [](int s) { return 0.2 * std::pow(0.1, s / 7); }, 30);
  follow_rate(
      sgd(R"("step", "value": 0.2, "steps": 3, "gamma": 0.5, "warmup": 2)"),
      [](int s) { return s < 2 ? 0.2 * (s + 1) / 3 : 0.2 * std::pow(0.5, (s - 2) / 3); }, 20);
}

TEST(Schedule, OneCycle) {
  const auto rate = [](int s) {
    const double top = 0.3 * 20 - 1, last = 19, first = 0.2 / 25, low = first / 1e4;
    if (s <= top) return cosine(first, 0.2, s / top);
    return cosine(0.2, low, std::min(1.0, (s - top) / (last - top)));
  };
  follow_rate(sgd(R"("one_cycle", "peak": 0.2)", 20), rate, 22);
}

TEST(Schedule, OneCycleOfLines) {
  const auto line = [](double from, double to, double share) { return from + (to - from) * share; };
  const auto rate = [&](int s) {
    const double top = 0.4 * 20 - 1, back = 2 * 0.4 * 20 - 2, last = 19, first = 0.2 / 10, low = first / 100;
    if (s <= top) return line(first, 0.2, s / top);
    if (s <= back) return line(0.2, first, (s - top) / (back - top));
    return line(first, low, std::min(1.0, (s - back) / (last - back)));
  };
  follow_rate(sgd(R"("one_cycle", "peak": 0.2, "pct_start": 0.4, "anneal": "linear", "div_factor": 10,
                     "final_div_factor": 100, "three_phase": true)",
                  20),
              rate, 22);
}

// Without a rise the fall begins a step before the training, as in PyTorch; a rise over all of it never falls.
TEST(Schedule, OneCycleWithoutAPhase) {
  follow_rate(
      sgd(R"("one_cycle", "peak": 0.2, "pct_start": 0)", 10),
      [](int s) { return cosine(0.2, 0.2 / 25 / 1e4, std::min(1.0, (s + 1) / 10.0)); }, 10);
  follow_rate(
      sgd(R"("one_cycle", "peak": 0.2, "pct_start": 1)", 10), [](int s) { return cosine(0.2 / 25, 0.2, s / 9.0); }, 10);
  follow_rate(
      sgd(R"("one_cycle", "peak": 0.2)", 1), [](int) { return 0.2 / 25; }, 1);
}

TEST(Schedule, CosineRestarts) {
  follow_rate(
      sgd(R"("cosine_restarts", "peak": 0.2, "min": 0.02, "steps": 7)"),
      [](int s) { return cosine(0.2, 0.02, s % 7 / 7.0); }, 30);
}

// Cycles of 3, 6, 12, 24, ... steps, and of 1, 3, 9, 27, ... behind a warm-up.
TEST(Schedule, CosineRestartsGrow) {
  const auto grown = [](int s, int length, int factor) {
    for (; s >= length; length *= factor) s -= length;
    return cosine(0.2, 0, static_cast<double>(s) / length);
  };
  follow_rate(
      sgd(R"("cosine_restarts", "peak": 0.2, "steps": 3, "factor": 2)"), [&](int s) { return grown(s, 3, 2); }, 100);
  follow_rate(
      sgd(R"("cosine_restarts", "peak": 0.2, "steps": 1, "factor": 3, "warmup": 4)"),
      [&](int s) { return s < 4 ? 0.2 * (s + 1) / 5 : grown(s - 4, 1, 3); }, 100);
}

// After each epoch the rate of torch.optim.lr_scheduler.ReduceLROnPlateau: made by PyTorch 2.15 with SGD(lr=0.2) and
// scheduler.step(measure) after each step, over these measures; for "max" over 1.9 less each.
TEST(Schedule, Plateau) {
  const std::vector<double> measures = {1.0,  0.9,  0.95, 0.89995, 0.97, 0.96, 0.8, 0.81, 0.82, 0.83, 0.84, 0.79,
                                        0.85, 0.86, 0.87, 0.7,     0.7,  0.7,  0.7, 0.7,  0.6,  0.65, 0.66, 0.67};
  struct Case {
    std::string settings;
    std::vector<double> rates;
  };
  const std::vector<Case> cases = {
      {R"("patience": 2)", {0.2,   0.2,   0.2,    0.2,    0.02,   0.02,   0.02,  0.02,  0.02,  0.002, 0.002, 0.002,
                            0.002, 0.002, 0.0002, 0.0002, 0.0002, 0.0002, 2e-05, 2e-05, 2e-05, 2e-05, 2e-05, 2e-06}},
      {R"("factor": 0.5, "patience": 1, "cooldown": 2)",
       {0.2,  0.2,   0.2,   0.1,   0.1,   0.1,    0.1,    0.1,    0.05,   0.05,   0.05,    0.05,
        0.05, 0.025, 0.025, 0.025, 0.025, 0.0125, 0.0125, 0.0125, 0.0125, 0.0125, 0.00625, 0.00625}},
      {R"("mode": "max", "factor": 0.5, "patience": 1, "threshold": 0.05, "threshold_mode": "abs")",
       {0.2,      0.2,       0.2,       0.1,        0.1,        0.05,       0.05,        0.05,
        0.025,    0.025,     0.0125,    0.0125,     0.00625,    0.00625,    0.003125,    0.003125,
        0.003125, 0.0015625, 0.0015625, 0.00078125, 0.00078125, 0.00078125, 0.000390625, 0.000390625}},
      {R"("mode": "max", "factor": 0.3, "patience": 0, "min": 0.02, "cooldown": 1)",
       {0.2,  0.2,  0.06, 0.06, 0.02, 0.02, 0.02, 0.02, 0.02, 0.02, 0.02, 0.02,
        0.02, 0.02, 0.02, 0.02, 0.02, 0.02, 0.02, 0.02, 0.02, 0.02, 0.02, 0.02}},
      {R"("patience": 0, "threshold": 0.1, "threshold_mode": "abs", "eps": 0.001)",
       {0.2,    0.02,   0.002,  0.002,  0.0002, 0.0002, 0.0002, 0.0002, 0.0002, 0.0002, 0.0002, 0.0002,
        0.0002, 0.0002, 0.0002, 0.0002, 0.0002, 0.0002, 0.0002, 0.0002, 0.0002, 0.0002, 0.0002, 0.0002}}};
  for (const Case& c : cases) {
    PlateauTraining training(c.settings);
    for (size_t epoch = 0; epoch < measures.size(); ++epoch) {
      const double measure = c.settings.find("max") == std::string::npos ? measures[epoch] : 1.9 - measures[epoch];
      EXPECT_NEAR(training.rate_of_epoch(measure), epoch == 0 ? 0.2 : c.rates[epoch - 1], 1e-9)
          << c.settings << " epoch " << epoch;
    }
  }
}

// A measure that is not a number is not better, in the first epoch neither.
TEST(Schedule, PlateauOfNothing) {
  PlateauTraining training(R"("patience": 1, "factor": 0.5)");
  const double nothing = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> measures = {nothing, nothing, 5.0, nothing, nothing, nothing};
  const std::vector<double> rates = {0.2, 0.2, 0.1, 0.1, 0.1, 0.05};
  for (size_t i = 0; i < rates.size(); ++i) EXPECT_NEAR(training.rate_of_epoch(measures[i]), rates[i], 1e-12) << i;
}

}  // namespace
}  // namespace heddle::frontend
