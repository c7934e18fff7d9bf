// Trainings of several players, beside the same steps written out in double precision.
#include <gtest/gtest.h>

#include <cmath>

#include "frontend/training/train_step.h"
#include "ir/builder.h"
#include "tests/unit/built_model.h"

namespace heddle::frontend {
namespace {

std::string players(const std::string& critic, const std::string& actor, const std::string& more = {}) {
  return model(R"("x": {"shape": ["N", 3]}, "t": {"shape": ["N", 3]}, "u": {"shape": ["N", 3]})",
               R"({"name": "d", "op": "param", "shape": [3]}, {"name": "g", "op": "param", "shape": [3]},
                  {"name": "fake", "op": "mul", "in": ["x", "g"]}, {"name": "score", "op": "mul", "in": ["fake", "d"]})",
               R"(, "train": {"batch": {"N": 2}, )" + more + R"("phases": [
                  {"name": "critic", "loss": {"op": "mse", "in": ["score", "t"]}, "parameters": "d", )" +
                   critic + R"(},
                  {"name": "actor", "loss": {"op": "mse", "in": ["score", "u"]}, "parameters": "g", )" +
                   actor + "}]}");
}

struct Players {
  std::vector<double> d = {0.5, -1.0, 2.0}, g = {1.5, 0.25, -0.5};
  ir::NamedTensors inputs = {{"x", tensor({ir::DType::f32, {2, 3}}, wave)},
                             {"t", tensor({ir::DType::f32, {2, 3}}, [](int64_t i) { return wave(i + 9); })},
                             {"u", tensor({ir::DType::f32, {2, 3}}, [](int64_t i) { return wave(i + 4); })}};

  // mean((x g d - target)^2): its gradient by d, and by g with `by` and `other` exchanged.
  std::vector<double> gradient(const std::vector<double>& by, const std::vector<double>& other,
                               const std::string& target) const {
    std::vector<double> sums(3, 0);
    for (size_t i = 0; i < 6; ++i) {
      const double x = inputs.at("x").real[i], y = inputs.at(target).real[i];
      sums[i % 3] += 2.0 / 6 * (x * by[i % 3] * other[i % 3] - y) * x * other[i % 3];
    }
    return sums;
  }
  double loss(const std::string& target) const {
    double sum = 0;
    for (size_t i = 0; i < 6; ++i)
      sum += std::pow(inputs.at("x").real[i] * d[i % 3] * g[i % 3] - inputs.at(target).real[i], 2) / 6;
    return sum;
  }
};

void descend(std::vector<double>& w, std::vector<double> gradient, double lr, double most = 0) {
  double squares = 0;
  for (const double v : gradient) squares += v * v;
  const double factor = most > 0 ? std::min(1.0, most / (std::sqrt(squares) + 1e-6)) : 1;
  for (size_t i = 0; i < w.size(); ++i) w[i] -= lr * factor * gradient[i];
}

void expect_near(const ir::Tensor& state, const std::vector<double>& w, int step) {
  for (size_t i = 0; i < w.size(); ++i) EXPECT_NEAR(state.real[i], w[i], 1e-11) << "step " << step;
}

// The actor sees the renewed critic, and its loss is the one that it sees.
TEST(Phases, RunInOrder) {
  Players by_hand;
  Training training(players(R"("optimizer": {"op": "sgd", "lr": 0.1}, "clip_norm": 0.05)",
                            R"("optimizer": {"op": "sgd", "lr": 0.2})"));
  training.states["d"].real = by_hand.d, training.states["g"].real = by_hand.g;
  for (int step = 0; step < 6; ++step) {
    double loss = by_hand.loss("t");
    descend(by_hand.d, by_hand.gradient(by_hand.d, by_hand.g, "t"), 0.1, 0.05);
    loss += by_hand.loss("u");
    descend(by_hand.g, by_hand.gradient(by_hand.g, by_hand.d, "u"), 0.2);
    EXPECT_NEAR(training.step(by_hand.inputs).outputs.at(0).at(0), loss, 1e-11) << "step " << step;
    expect_near(training.states["d"], by_hand.d, step);
    expect_near(training.states["g"], by_hand.g, step);
  }
}

// At steps 3 and 6, with the moments of its own first and second step.
TEST(Phases, RunAtEachNthStep) {
  Players by_hand;
  Training training(
      players(R"("optimizer": {"op": "sgd", "lr": 0.1})", R"("optimizer": {"op": "adam", "lr": 0.05}, "every": 3)"));
  training.states["d"].real = by_hand.d, training.states["g"].real = by_hand.g;
  std::vector<double> m(3, 0), v(3, 0);
  for (int step = 1; step <= 7; ++step) {
    training.step(by_hand.inputs);
    descend(by_hand.d, by_hand.gradient(by_hand.d, by_hand.g, "t"), 0.1);
    if (step % 3 == 0) {
      const std::vector<double> gradient = by_hand.gradient(by_hand.g, by_hand.d, "u");
      const int own = step / 3;
      for (size_t i = 0; i < 3; ++i) {
        m[i] = 0.9 * m[i] + 0.1 * gradient[i];
        v[i] = 0.999 * v[i] + 0.001 * gradient[i] * gradient[i];
        const double mean = m[i] / (1 - std::pow(0.9, own)), square = v[i] / (1 - std::pow(0.999, own));
        by_hand.g[i] -= 0.05 * mean / (std::sqrt(square) + 1e-8);
      }
    }
    expect_near(training.states["d"], by_hand.d, step);
    for (size_t i = 0; i < 3; ++i) EXPECT_NEAR(training.states["g"].real[i], by_hand.g[i], 1e-7) << "step " << step;
  }
}

// A graph's values move as it grows, at sizes of the container's choice; a name that is read behind that is one of freed
// memory.
TEST(Phases, NamesSurviveAGraphThatGrows) {
  const ir::Type row{ir::DType::f32, {3}};
  for (int more = 0; more < 70; ++more) {
    ir::Graph g;
    const ir::ValueId runs = g.add_input("runs", {ir::DType::boolean, {}}, ir::Role::input);
    const ir::ValueId next = g.add_input("next", row, ir::Role::input);
    const ir::ValueId before = g.add_input("a.name.longer.than.a.string.holds.inside", row, ir::Role::state);
    for (int i = 0; i < more; ++i) g.add_input("more." + std::to_string(i), row, ir::Role::input);
    ir::Builder b(g);
    const ir::ValueId kept = if_runs(b, runs, next, before, g[before].name);
    EXPECT_EQ(g[kept].name, "a.name.longer.than.a.string.holds.inside.if_runs") << more;
  }
}

}  // namespace
}  // namespace heddle::frontend
