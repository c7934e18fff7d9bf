// The loss ctc against all ways to write a target, one after another, and its gradient against central differences of that.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/unit/built_model.h"

namespace heddle::frontend {
namespace {

using Vector = std::vector<double>;
using Labels = std::vector<int64_t>;

constexpr int64_t kSteps = 5, kClasses = 3;

Labels without_repeats_and_blanks(const Labels& path, int64_t blank) {
  Labels out;
  for (size_t t = 0; t < path.size(); ++t)
    if (path[t] != blank && (t == 0 || path[t] != path[t - 1])) out.push_back(path[t]);
  return out;
}

// -log of the sum over all kClasses^steps paths that spell the target, of x[step][class] under a softmax of each step.
double cost(const Vector& x, const Labels& target, int64_t steps, int64_t blank) {
  const auto at = [&](int64_t t, int64_t k) { return x[static_cast<size_t>(t * kClasses + k)]; };
  const auto log_probability = [&](int64_t t, int64_t k) {
    double sum = 0;
    for (int64_t other = 0; other < kClasses; ++other) sum += std::exp(at(t, other));
    return at(t, k) - std::log(sum);
  };
  int64_t paths = 1;
  for (int64_t t = 0; t < steps; ++t) paths *= kClasses;
  double total = 0;
  for (int64_t number = 0; number < paths; ++number) {
    Labels path;
    double log = 0;
    for (int64_t t = 0, rest = number; t < steps; ++t, rest /= kClasses) {
      path.push_back(rest % kClasses);
      log += log_probability(t, path.back());
    }
    if (without_repeats_and_blanks(path, blank) == target) total += std::exp(log);
  }
  return -std::log(total);
}

struct Row {
  Labels target;
  int64_t steps = kSteps;
};

// One row at a time, so that its cost is the loss.
void expect_cost(const Row& row, int64_t blank) {
  Training training(model(
      R"("z": {"shape": ["N", 5, 3]}, "y": {"shape": ["N", 3], "dtype": "i32"}, "n": {"shape": ["N"], "dtype": "i32"},
         "m": {"shape": ["N"], "dtype": "i32"})",
      R"({"name": "p", "op": "param", "shape": [1, 5, 3]}, {"name": "x", "op": "add", "in": ["z", "p"]})",
      fmt::format(R"(, "train": {{"batch": {{"N": 1}}, "optimizer": {{"op": "sgd", "lr": 1}}, "loss":
                     {{"op": "ctc", "in": ["x", "y", "n", "m"], "blank": {}, "reduction": "rows"}}}})",
                  blank)));
  Vector x;
  for (int64_t i = 0; i < kSteps * kClasses; ++i) x.push_back(2 * wave(i));
  training.states["p"].real = x;
  ir::NamedTensors in;
  in["z"] = tensor({ir::DType::f32, {1, kSteps, kClasses}}, [](int64_t) { return 0; });
  in["y"] = ir::Tensor({ir::DType::i32, {1, 3}});
  for (size_t i = 0; i < 3; ++i)
    in["y"].integer[i] = i < row.target.size() ? row.target[i] : -7;  // padding is anything
  in["n"] = in["m"] = ir::Tensor({ir::DType::i32, {1}});
  in["n"].integer[0] = row.steps;
  in["m"].integer[0] = static_cast<int64_t>(row.target.size());
  const double loss = training.step(in).outputs.at(0).at(0), expected = cost(x, row.target, row.steps, blank);
  const std::string what = fmt::format("{} labels, {} steps, blank {}", row.target.size(), row.steps, blank);
  if (std::isinf(expected)) {
    EXPECT_EQ(loss, expected) << what;
    EXPECT_EQ(training.states["p"].real, x) << what;  // trains nothing
    return;
  }
  EXPECT_NEAR(loss, expected, 1e-12) << what;
  for (size_t i = 0; i < x.size(); ++i) {
    constexpr double kStep = 1e-6;
    Vector above = x, below = x;
    above[i] += kStep;
    below[i] -= kStep;
    const double gradient =
        (cost(above, row.target, row.steps, blank) - cost(below, row.target, row.steps, blank)) / (2 * kStep);
    EXPECT_NEAR(x[i] - training.states["p"].real[i], gradient, 1e-8) << what << " element " << i;
  }
}

TEST(Ctc, IsTheSumOfAllPaths) {
  for (int64_t blank = 0; blank < kClasses; ++blank) {
    const int64_t a = (blank + 1) % kClasses, b = (blank + 2) % kClasses;
    for (const Labels& target : std::vector<Labels>{{}, {a}, {a, b}, {a, a}, {b, a, b}, {a, a, b}, {b, b, b}})
      for (const int64_t steps : {int64_t{0}, int64_t{1}, int64_t{3}, int64_t{4}, kSteps})
        expect_cost({target, steps}, blank);
  }
}

}  // namespace
}  // namespace heddle::frontend
