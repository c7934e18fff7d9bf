// Penalties and constraints of parameters, against their formulas written out.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tests/support/host_run.h"
#include "tests/unit/followed_training.h"

namespace heddle::frontend {
namespace {

using Numbers = std::vector<double>;

double sign(double x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }
double clamped(double x, double low, double high) { return std::min(std::max(x, low), high); }

// The number of the norm that each element counts in: elements that differ along `axes` alone have one.
std::vector<size_t> norm_of_each(const ir::Dims& dims, const ir::Dims& axes) {
  std::vector<size_t> places = {0};
  size_t norms = 1;
  for (size_t d = 0; d < dims.size(); ++d) {
    const bool added_up = std::ranges::count(axes, static_cast<int64_t>(d)) > 0;
    const auto size = static_cast<size_t>(dims[d]);
    std::vector<size_t> finer;
    for (const size_t place : places)
      for (size_t i = 0; i < size; ++i) finer.push_back(added_up ? place : place * size + i);
    if (!added_up) norms *= size;
    places = finer;
  }
  EXPECT_LT(*std::ranges::max_element(places), norms);
  return places;
}

void scale_norms(Numbers& w, const ir::Dims& dims, const ir::Dims& axes,
                 const std::function<double(double norm)>& factor) {
  const std::vector<size_t> place = norm_of_each(dims, axes);
  Numbers squares(w.size(), 0);
  for (size_t i = 0; i < w.size(); ++i) squares[place[i]] += w[i] * w[i];
  for (size_t i = 0; i < w.size(); ++i) w[i] *= factor(std::sqrt(squares[place[i]]));
}

// The sum of the squares of W W^t - I, or of W^t W - I; adds `weight` times its gradient, 4 (W W^t - I) W.
double orthogonal(const Numbers& w, size_t rows, bool of_rows, double weight, Numbers& gradient) {
  const size_t columns = w.size() / rows, n = of_rows ? rows : columns, inner = of_rows ? columns : rows;
  const auto at = [&](size_t i, size_t k) { return of_rows ? i * columns + k : k * columns + i; };
  double sum = 0;
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < n; ++j) {
      double deviation = i == j ? -1 : 0;
      for (size_t k = 0; k < inner; ++k) deviation += w[at(i, k)] * w[at(j, k)];
      sum += deviation * deviation;
      for (size_t k = 0; k < inner; ++k) gradient[at(i, k)] += weight * 4 * deviation * w[at(j, k)];
    }
  return sum;
}

// The value of a penalty at w; adds its gradient.
using Penalty = std::function<double(const Numbers& w, Numbers& gradient)>;
using Rule = std::function<void(Numbers& w)>;

struct Drawn {
  ir::Dims dims;
  double rate = 0;
  std::vector<std::string> regularize, constrain;  // as a model says it
  std::vector<Penalty> penalties;
  std::vector<Rule> rules;
};

class Draw {
 public:
  explicit Draw(uint32_t seed) : random_(seed) {}

  Drawn training() {
    Drawn d;
    const std::vector<ir::Dims> shapes = {{5}, {3, 4}, {4, 3}, {3, 3}, {2, 3, 2}, {1}, {1, 4}};
    d.dims = shapes[below(shapes.size())];
    d.rate = between(0.02, 0.3);
    for (size_t n = below(3); n > 0; --n) penalty(d);
    for (size_t n = below(3); n > 0; --n) rule(d);
    return d;
  }

 private:
  size_t below(size_t n) { return random_() % n; }
  // Of two digits, so that the model's text has the same number.
  double between(double low, double high) {
    return std::round((low + (high - low) * static_cast<double>(random_() % 1000) / 1000) * 100) / 100 + 0.0;  // no -0
  }

  void penalty(Drawn& d) {
    const double a = between(0, 0.5), b = between(0, 0.5);
    const size_t kind = below(d.dims.size() < 2 ? 3 : 4);
    const auto elements = [&](double l1, double l2) {
      d.penalties.push_back([l1, l2](const Numbers& w, Numbers& gradient) {
        double sum = 0;
        for (size_t i = 0; i < w.size(); ++i) {
          sum += l1 * std::abs(w[i]) + l2 * w[i] * w[i];
          gradient[i] += l1 * sign(w[i]) + 2 * l2 * w[i];
        }
        return sum;
      });
    };
    if (kind == 0) {
      d.regularize.push_back(fmt::format(R"({{"op": "l1", "match": "w", "weight": {}}})", a));
      elements(a, 0);
    } else if (kind == 1) {
      d.regularize.push_back(fmt::format(R"({{"op": "l2", "match": "w*", "weight": {}}})", a));
      elements(0, a);
    } else if (kind == 2) {
      d.regularize.push_back(fmt::format(R"({{"op": "elastic", "match": ["w"], "l1": {}, "l2": {}}})", a, b));
      elements(a, b);
    } else {
      const std::string mode = std::vector<std::string>{"", R"(, "mode": "rows")", R"(, "mode": "columns")"}[below(3)];
      const double weight = a / 20;
      d.regularize.push_back(fmt::format(R"({{"op": "orthogonal", "match": "w", "weight": "{}/20.0"{}}})", a, mode));
      const auto rows = static_cast<size_t>(d.dims[0]);
      d.penalties.push_back([rows, mode, weight](const Numbers& w, Numbers& gradient) {
        const bool of_rows = mode.empty() ? rows <= w.size() / rows : mode.find("rows") != std::string::npos;
        return weight * orthogonal(w, rows, of_rows, weight, gradient);
      });
    }
  }

  // None is said: all but the first, or the only one.
  std::string axes_of(const Drawn& d, ir::Dims& axes) {
    const auto rank = static_cast<int64_t>(d.dims.size());
    const size_t said = below(3);
    for (int64_t axis = rank > 1 ? 1 : 0; axis < rank; ++axis) axes.push_back(axis);
    if (said == 0) return "";
    if (said == 1) {
      axes = {static_cast<int64_t>(below(d.dims.size()))};
      return fmt::format(", \"axis\": {}", axes[0] - (below(2) == 0 ? rank : 0));
    }
    axes.clear();
    for (int64_t axis = 0; axis < rank; ++axis) axes.push_back(axis);
    return fmt::format(", \"axis\": [{}]", fmt::join(axes, ", "));
  }

  void rule(Drawn& d) {
    const size_t kind = below(5);
    ir::Dims axes;
    const ir::Dims dims = d.dims;
    if (kind == 0) {
      const double max = between(0.1, 2);
      d.constrain.push_back(fmt::format(R"({{"op": "max_norm", "match": "w", "max": {}{}}})", max, axes_of(d, axes)));
      d.rules.push_back(
          [=](Numbers& w) { scale_norms(w, dims, axes, [&](double norm) { return norm > max ? max / norm : 1; }); });
    } else if (kind == 1) {
      d.constrain.push_back(fmt::format(R"({{"op": "unit_norm", "match": "w"{}}})", axes_of(d, axes)));
      d.rules.push_back(
          [=](Numbers& w) { scale_norms(w, dims, axes, [](double norm) { return 1 / std::max(norm, 1e-12); }); });
    } else if (kind == 2) {
      d.constrain.emplace_back(R"({"op": "non_negative", "match": "w"})");
      d.rules.push_back([](Numbers& w) {
        for (double& v : w) v = std::max(v, 0.0);
      });
    } else {
      const double low = between(-1, 0.5), high = low + 0.25;
      const bool both = kind == 3;
      d.constrain.push_back(both ? fmt::format(R"({{"op": "clip", "match": "w", "min": {}, "max": {}}})", low, high)
                                 : fmt::format(R"({{"op": "clip", "match": "w", "max": {}}})", high));
      d.rules.push_back([=](Numbers& w) {
        for (double& v : w) v = both ? clamped(v, low, high) : std::min(v, high);
      });
    }
  }

  std::mt19937 random_;
};

// The mean of (x w - t)^2, where x and t have two rows of w's shape, with what is drawn.
std::string text_of(const Drawn& d) {
  const std::string shape = fmt::format("{}", fmt::join(d.dims, ", "));
  return model(fmt::format(R"("x": {{"shape": ["N", {0}]}}, "t": {{"shape": ["N", {0}]}})", shape),
               fmt::format(R"({{"name": "w", "op": "param", "shape": [{}], "init": "ones"}},
                     {{"name": "y", "op": "mul", "in": ["x", "w"]}})",
                           shape),
               fmt::format(R"(, "train": {{"batch": {{"N": 2}}, "loss": {{"op": "mse", "in": ["y", "t"]}},
                       "regularize": [{}], "constrain": [{}], "optimizer": {{"op": "sgd", "lr": {}}}}})",
                           fmt::join(d.regularize, ", "), fmt::join(d.constrain, ", "), d.rate));
}

// The loss at w; adds its gradient.
double loss_of(const Drawn& d, const Numbers& w, const ir::NamedTensors& in, Numbers& gradient) {
  const Numbers &x = in.at("x").real, &t = in.at("t").real;
  const auto count = static_cast<double>(x.size());
  double loss = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const size_t at = i % w.size();
    const double difference = x[i] * w[at] - t[i];
    loss += difference * difference / count;
    gradient[at] += 2 / count * difference * x[i];
  }
  for (const Penalty& penalty : d.penalties) loss += penalty(w, gradient);
  return loss;
}

void follow_drawn(const Drawn& d) {
  SCOPED_TRACE(text_of(d));
  ir::Dims rows = d.dims;
  rows.insert(rows.begin(), 2);
  const ir::NamedTensors in = {{"x", tensor({ir::DType::f32, rows}, wave)},
                               {"t", tensor({ir::DType::f32, rows}, [](int64_t i) { return wave(i + 9); })}};
  Training training(text_of(d));
  Numbers w(training.states.at("w").real.size());
  for (size_t i = 0; i < w.size(); ++i) w[i] = 1.2 * wave(static_cast<int64_t>(3 * i + 1));
  training.states["w"].real = w;
  for (int step = 0; step < 5; ++step) {
    Numbers gradient(w.size(), 0);
    const double loss = loss_of(d, w, in, gradient);
    EXPECT_NEAR(training.run("eval", in).outputs.at(0).at(0), loss, 1e-9 * (1 + loss));
    EXPECT_NEAR(training.step(in).outputs.at(0).at(0), loss, 1e-9 * (1 + loss));
    for (size_t i = 0; i < w.size(); ++i) w[i] -= d.rate * gradient[i];
    for (const Rule& rule : d.rules) rule(w);
    for (size_t i = 0; i < w.size(); ++i)
      ASSERT_NEAR(training.states.at("w").real[i], w[i], 1e-9 * (1 + std::abs(w[i]))) << i << " after step " << step;
  }
}

TEST(WeightRules, FollowTheirFormulas) {
  Draw draw(31);
  std::map<std::string, int> seen;
  for (int i = 0; i < 120; ++i) {
    const Drawn d = draw.training();
    for (const std::string& said : d.regularize) ++seen[said.substr(0, said.find(','))];
    for (const std::string& said : d.constrain) ++seen[said.substr(0, said.find(','))];
    follow_drawn(d);
  }
  EXPECT_EQ(seen.size(), 8U);  // four penalties and four constraints
}

// What the update makes is constrained, and not the gradient; adam's moments are as without.
TEST(WeightRules, FollowTheOptimizer) {
  Numbers m(3, 0), v(3, 0);
  follow(
      R"("optimizer": {"op": "adam", "lr": 0.3}, "constrain": {"op": "clip", "match": "w", "min": -0.9, "max": 1.7})",
      [&](auto& w, auto g, int step) {
        for (size_t i = 0; i < 3; ++i) {
          m[i] = 0.9 * m[i] + (1 - 0.9) * g[i];
          v[i] = 0.999 * v[i] + (1 - 0.999) * g[i] * g[i];
          const double c1 = 1 - std::pow(0.9, step + 1), c2 = 1 - std::pow(0.999, step + 1);
          w[i] = clamped(w[i] - 0.3 / c1 * m[i] / (std::sqrt(v[i]) / std::sqrt(c2) + 1e-8), -0.9, 1.7);
        }
      });
}

// The gradient of a penalty is part of the norm that is clipped: torch.nn.utils.clip_grad_norm_ of a loss with the penalty.
TEST(WeightRules, PenaltiesAreClippedWithTheLoss) {
  follow(R"("clip_norm": 0.05, "optimizer": {"op": "sgd", "lr": 0.1},
            "regularize": {"op": "l2", "match": "w", "weight": 0.2})",
         [](auto& w, auto g, int) {
           double squares = 0;
           for (size_t i = 0; i < 3; ++i) g[i] += 2 * 0.2 * w[i], squares += g[i] * g[i];
           EXPECT_GT(squares, 0.05 * 0.05);
           for (size_t i = 0; i < 3; ++i) w[i] -= 0.1 * g[i] * std::min(1.0, 0.05 / (std::sqrt(squares) + 1e-6));
         });
}

// l2 of k is the coupled weight decay of 2 k.
TEST(WeightRules, L2IsHalfOfAWeightDecay) {
  follow(R"("optimizer": {"op": "sgd", "lr": 0.1}, "regularize": [{"op": "l2", "match": "*", "weight": 0.1}])",
         [](auto& w, auto g, int) {
           for (size_t i = 0; i < 3; ++i) w[i] -= 0.1 * (g[i] + 0.2 * w[i]);
         });
}

// Two layers, and a parameter that no node reads.
std::string two_layers(const std::string& train) {
  return model(R"("x": {"shape": ["N", 3]}, "t": {"shape": ["N", 2]})",
               R"({"name": "a", "op": "dense", "in": "x", "units": 4, "bias_init": "ones"},
                  {"name": "b", "op": "dense", "in": "a", "units": 2}, {"name": "extra", "op": "param", "shape": [2]})",
               R"(, "train": {"batch": {"N": 2}, "loss": {"op": "mse", "in": ["b", "t"]}, )" + train + "}");
}

ir::NamedTensors two_rows() {
  return {{"x", tensor({ir::DType::f32, {2, 3}}, wave)},
          {"t", tensor({ir::DType::f32, {2, 2}}, [](int64_t i) { return wave(i + 9); })}};
}

// Penalties and constraints of all parameters of the layers.
constexpr const char* kManyRules = R"("optimizer": {"op": "adam", "lr": 0.05},
    "regularize": [{"op": "elastic", "match": "*.bias", "l1": 0.1, "l2": 0.2},
                   {"op": "orthogonal", "match": "*.weight", "weight": 0.1}],
    "constrain": [{"op": "max_norm", "match": "a.weight", "max": 0.9}, {"op": "non_negative", "match": "a.bias"},
                  {"op": "unit_norm", "match": "b.weight", "axis": 0}, {"op": "clip", "match": "b.bias", "max": 0.02}])";

double squares_of(const Numbers& w) {
  double sum = 0;
  for (const double v : w) sum += v * v;
  return sum;
}

// Measures: the loss is the sum, the penalty stands beside it; what is frozen adds nothing and stays.
TEST(WeightRules, AreMeasuredWithoutWhatIsFrozen) {
  Training training(two_layers(R"("freeze": ["a.*"], "optimizer": {"op": "sgd", "lr": 0.1},
      "regularize": [{"op": "l2", "match": ["a.weight", "b.weight"], "weight": 0.25}, {"op": "l1", "match": "a.*", "weight": 1}],
      "constrain": {"op": "unit_norm", "match": "*.weight"})"));
  training.run("reset");
  const Numbers before = training.states.at("a.weight").real;
  const double penalty = 0.25 * squares_of(training.states.at("b.weight").real);
  const double loss = training.step(two_rows()).outputs.at(0).at(0);
  const std::vector<ir::Tensor> metrics = training.metrics();
  ASSERT_EQ(metrics.size(), 4U);  // loss, loss_mse, penalty_l2, penalty_l1
  EXPECT_NEAR(metrics[0].at(0), loss, 1e-12);
  EXPECT_NEAR(metrics[1].at(0) + penalty, loss, 1e-12);
  EXPECT_NEAR(metrics[2].at(0), penalty, 1e-12);
  EXPECT_EQ(metrics[3].at(0), 0);
  EXPECT_EQ(training.states.at("a.weight").real, before);
  EXPECT_NEAR(squares_of(training.states.at("b.weight").real), 2, 1e-12);  // two units
}

// A parameter that no node reads is trained by its penalty alone; groups have their own rates.
TEST(WeightRules, ReachWhatTheLossDoesNot) {
  Training training(two_layers(R"("optimizer": {"op": "sgd", "lr": 0.1, "groups": [{"match": "extra", "lr": 0.5}]},
      "regularize": {"op": "l2", "match": "extra", "weight": 0.25})"));
  training.states["extra"].real = {4, -2};
  training.step(two_rows());
  EXPECT_EQ(training.states.at("extra").real, (Numbers{3, -1.5}));  // w - 0.5 * 2 * 0.25 w
}

// The average is that of what the constraint makes: after its first step the parameter itself.
TEST(WeightRules, AreAveraged) {
  Training training(two_layers(R"("optimizer": {"op": "sgd", "lr": 0.1}, "average": {"decay": 0.5},
      "constrain": {"op": "max_norm", "match": "b.weight", "max": 0.5, "axis": [0, 1]})"));
  training.step(two_rows());
  const Numbers first = training.states.at("b.weight").real;
  EXPECT_NEAR(std::sqrt(squares_of(first)), 0.5, 1e-12);
  EXPECT_EQ(training.states.at("b.weight.average").real, first);
  training.step(two_rows());
  for (size_t i = 0; i < first.size(); ++i)
    EXPECT_NEAR(training.states.at("b.weight.average").real[i], (first[i] + training.states.at("b.weight").real[i]) / 2,
                1e-12);
}

// What is all zeros has no direction, and stays.
TEST(WeightRules, ZerosStayZeros) {
  for (const char* rule : {R"({"op": "unit_norm", "match": "w"})", R"({"op": "max_norm", "match": "w", "max": 1})"}) {
    Training training(model(R"("x": {"shape": ["N", 3]})", R"({"name": "w", "op": "param", "shape": [3]},
        {"name": "y", "op": "mul", "in": ["x", "w"]})",
                            fmt::format(R"(, "train": {{"batch": {{"N": 1}}, "loss": {{"op": "mse", "in": ["y", "y"]}},
                              "constrain": {}, "optimizer": "sgd"}})",
                                        rule)));
    training.precision = ir::Precision::rounded;
    training.states["w"].real = {0, 0, 0};
    training.step({{"x", tensor({ir::DType::f32, {1, 3}}, wave)}});
    EXPECT_EQ(training.states.at("w").real, (Numbers{0, 0, 0})) << rule;
  }
}

// Axes are those of files, [filters, channels, height, width]; filters lie with channels last.
TEST(WeightRules, AxesAreThoseOfFiles) {
  Training training(model(R"("x": {"shape": ["N", 5, 5, 2]})",
                          R"({"name": "c", "op": "conv2d", "in": "x", "filters": 4, "kernel": 3},
                             {"name": "squares", "op": "mul", "in": ["c", "c"]}, {"name": "size", "op": "mean"})",
                          R"(, "train": {"batch": {"N": 2}, "loss": {"op": "value", "in": "size"}, "optimizer": "sgd",
                             "constrain": {"op": "unit_norm", "match": "c.weight", "axis": [2, 3]}})"));
  training.step({{"x", tensor({ir::DType::f32, {2, 5, 5, 2}}, wave)}});
  const ir::Tensor& w = training.states.at("c.weight");
  ASSERT_EQ(w.type.dims, (ir::Dims{4, 3, 3, 2}));
  for (size_t filter = 0; filter < 4; ++filter)
    for (size_t channel = 0; channel < 2; ++channel) {
      double squares = 0;
      for (size_t place = 0; place < 9; ++place) squares += std::pow(w.real[(filter * 9 + place) * 2 + channel], 2);
      EXPECT_NEAR(squares, 1, 1e-9);
    }
}

std::string table(bool sparse, const std::string& rule) {
  return model(
      R"("ids": {"shape": ["N"], "dtype": "i32"}, "t": {"shape": ["N", 2]})",
      fmt::format(R"({{"name": "e", "op": "embedding", "in": "ids", "vocab": 6, "units": 2, "sparse": {}}})", sparse),
      fmt::format(R"(, "train": {{"batch": {{"N": 4}}, "loss": {{"op": "mse", "in": ["e", "t"]}},
                               "constrain": {}, "optimizer": {{"op": "adagrad", "lr": 0.4}}}})",
                  rule));
}

// Of a table that is renewed by rows each row that a batch looks up is constrained. From rows that keep the rule it is
// the dense training.
TEST(WeightRules, RowsOfASparseTable) {
  const auto ids = [](int step) {
    return tensor({ir::DType::i32, {4}}, [=](int64_t i) { return static_cast<double>((i * i + step) % 5); });
  };
  for (const char* rule : {R"({"op": "max_norm", "match": "e.*", "max": 0.5})",
                           R"([{"op": "clip", "match": "e.*", "min": -0.3, "max": 0.4}])"}) {
    Training a(table(true, rule)), b(table(false, rule));
    Numbers start(12);
    for (size_t i = 0; i < start.size(); ++i) start[i] = 0.3 * wave(static_cast<int64_t>(i));
    a.states["e.weight"].real = b.states["e.weight"].real = start;
    for (int step = 0; step < 20; ++step) {
      const ir::NamedTensors in = {
          {"ids", ids(step)}, {"t", tensor({ir::DType::f32, {4, 2}}, [=](int64_t i) { return wave(i + 13 * step); })}};
      a.step(in);
      b.step(in);
      for (size_t i = 0; i < start.size(); ++i)
        ASSERT_NEAR(a.states.at("e.weight").real[i], b.states.at("e.weight").real[i], 1e-12) << rule << " " << step;
    }
    EXPECT_NE(a.states.at("e.weight").real, start);
    for (size_t i = 10; i < 12; ++i) EXPECT_EQ(a.states.at("e.weight").real[i], start[i]);  // row 5 is never read
  }
}

// Ten steps of PyTorch 2.15 in float64 from the same weights: torch.optim.Adam(lr=0.05) of mse_loss plus
// 0.1 abs().sum() + 0.2 (b ** 2).sum() of biases and 0.1 ((w @ w.T - eye) ** 2).sum() of weights, w.T @ w of a.weight,
// which is higher than wide; behind each step a.weight = torch.renorm(a.weight, 2, 0, 0.9), a.bias.clamp_(min=0),
// b.weight = torch.nn.functional.normalize(b.weight, dim=0), b.bias.clamp_(max=0.02). (renorm divides by norm + 1e-7.)
TEST(WeightRules, FollowPyTorch) {
  Training training(two_layers(kManyRules));
  int64_t first = 1;  // of the numbers that a parameter begins with
  for (const char* name : {"a.weight", "a.bias", "b.weight", "b.bias"}) {
    Numbers& w = training.states[name].real;
    for (size_t i = 0; i < w.size(); ++i) w[i] = wave(static_cast<int64_t>(i) + first);
    ++first;
  }
  double loss = training.step(two_rows()).outputs.at(0).at(0);
  EXPECT_NEAR(loss, 8.323522495087587, 1e-9);
  for (int step = 1; step < 10; ++step) loss = training.step(two_rows()).outputs.at(0).at(0);
  EXPECT_NEAR(loss, 1.0534525671552162, 2e-6);
  const std::map<std::string, Numbers> wanted = {
      {"a.weight",
       {0.167491778083, 0.31225051074, 0.257538171484, -0.293541523389, -0.704090231113, -0.379312438675,
        -0.484316583333, -0.0169210792659, 0.606655083805, 0.751343140162, 0.495452844674, -0.0031290383738}},
      {"a.bias", {0.548593489533, 0.199649112294, 0.330073447871, 0.349289726274}},
      {"b.weight",
       {0.62380279495, -0.500034510095, -0.985494689958, -0.288566891095, -0.78158177628, -0.866005478455,
        0.169706264071, 0.957459737725}},
      {"b.bias", {0.02, -0.148586175192}}};
  for (const auto& [name, w] : wanted)
    for (size_t i = 0; i < w.size(); ++i) EXPECT_NEAR(training.states.at(name).real.at(i), w[i], 2e-6) << name << i;
}

// Compiled for the host: near the double evaluation, and equal for any number of threads.
TEST(WeightRules, OnTheHost) {
  const std::string text = two_layers(kManyRules);
  const auto after = [&](int threads) {
    const std::unique_ptr<Built> built = build(text);
    testing::HostRun run(built->module, "train", {.threads = threads});
    ir::NamedTensors states = Training(text).states;
    for (int step = 0; step < 8; ++step) {
      ir::NamedTensors in = states;
      for (const auto& [name, t] : two_rows()) in.insert_or_assign(name, t);
      for (const auto& [name, t] : run(in).updated) states.insert_or_assign(name, t);
    }
    return states;
  };
  Training exact(text);
  for (int step = 0; step < 8; ++step) exact.step(two_rows());
  const ir::NamedTensors once = after(1);
  for (const int threads : {2, 3}) {
    const ir::NamedTensors again = after(threads);
    for (const auto& [name, state] : once) EXPECT_EQ(again.at(name).real, state.real) << name;
  }
  for (const char* name : {"a.weight", "a.bias", "b.weight", "b.bias"})
    for (size_t i = 0; i < once.at(name).real.size(); ++i)
      EXPECT_NEAR(once.at(name).real[i], exact.states.at(name).real[i], 1e-4) << name << " " << i;
}

}  // namespace
}  // namespace heddle::frontend
