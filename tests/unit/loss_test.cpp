// Losses: values against their formulas written out in double precision, gradients against central
// differences of those.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/unit/built_model.h"

namespace heddle::frontend {
namespace {

using ir::NamedTensors;
using ir::Tensor;
using Vector = std::vector<double>;
using Formula = std::function<double(const Vector& x)>;

constexpr int kRows = 4, kColumns = 3;

size_t index(int row, int column) { return static_cast<size_t>(row * kColumns + column); }
double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// x, 4 rows of 3, is a parameter; of inputs there are numbers `t` and `b` (0 or 1), class numbers `y` and weights `w`.
struct Values {
  Vector x, t, w = {0.5, 2, 0, 1.5};
  std::vector<int64_t> b, y = {2, 0, -100, 1};

  Values() {
    for (int64_t i = 0; i < kRows * kColumns; ++i) {
      x.push_back(2 * wave(i));
      t.push_back(wave(i + 9));
      b.push_back(i % 3 == 1 || i == 5);
    }
  }
  NamedTensors inputs() const {
    NamedTensors in;
    in["z"] = tensor({ir::DType::f32, {kRows, kColumns}}, [](int64_t) { return 0; });
    in["t"] = in["z"];
    in["t"].real = t;
    in["w"] = Tensor({ir::DType::f32, {kRows}});
    in["w"].real = w;
    in["b"] = Tensor({ir::DType::i32, {kRows, kColumns}});
    in["b"].integer = b;
    in["y"] = Tensor({ir::DType::i32, {kRows}});
    in["y"].integer = y;
    return in;
  }
};

std::string loss_model(const std::string& loss, const std::string& nodes) {
  return model(
      R"("z": {"shape": ["N", 3]}, "t": {"shape": ["N", 3]}, "w": {"shape": ["N"]},
                  "b": {"shape": ["N", 3], "dtype": "i32"}, "y": {"shape": ["N"], "dtype": "i32"})",
      R"({"name": "p", "op": "param", "shape": [4, 3]}, {"name": "x", "op": "add", "in": ["z", "p"]})" + nodes,
      fmt::format(R"(, "train": {{"batch": {{"N": 4}}, "loss": {}, "optimizer": {{"op": "sgd", "lr": 1}}}})", loss));
}

void expect_loss(const std::string& loss, const Values& values, const Formula& formula, const std::string& nodes = "") {
  Training training(loss_model(loss, nodes));
  training.states["p"].real = values.x;
  NamedTensors in = values.inputs();
  const ir::Evaluation ran = training.step(in);
  EXPECT_NEAR(ran.outputs.at(0).at(0), formula(values.x), 1e-12) << loss;
  for (size_t i = 0; i < values.x.size(); ++i) {
    constexpr double kStep = 1e-6;
    Vector above = values.x, below = values.x;
    above[i] += kStep;
    below[i] -= kStep;
    const double gradient = (formula(above) - formula(below)) / (2 * kStep);
    EXPECT_NEAR(values.x[i] - training.states["p"].real[i], gradient, 1e-8) << loss << " element " << i;
  }
}

// The mean over elements of what each costs, rows weighed.
Formula mean_of(const Values& v, const std::function<double(double x, size_t i)>& cost, bool weighed = false) {
  return [=](const Vector& x) {
    double sum = 0, count = 0;
    for (int row = 0; row < kRows; ++row)
      for (int column = 0; column < kColumns; ++column) {
        const double weight = weighed ? v.w[static_cast<size_t>(row)] : 1;
        sum += weight * cost(x[index(row, column)], index(row, column));
        count += weight;
      }
    return sum / count;
  };
}

TEST(Loss, MeanAbsoluteError) {
  const Values v;
  const auto cost = [&](double x, size_t i) { return std::abs(x - v.t[i]); };
  expect_loss(R"({"op": "mae", "in": ["x", "t"]})", v, mean_of(v, cost));
  expect_loss(R"({"op": "mae", "in": ["x", "t"], "weights": "w"})", v, mean_of(v, cost, true));
}

TEST(Loss, MeanSquaredErrorOfWeighedRows) {
  const Values v;
  expect_loss(R"({"op": "mse", "in": ["x", "t"], "weights": "w"})", v,
              mean_of(
                  v, [&](double x, size_t i) { return std::pow(x - v.t[i], 2); }, true));
}

TEST(Loss, Huber) {
  for (const double delta : {1.0, 0.3}) {
    const Values v;
    const auto cost = [&](double x, size_t i) {
      const double d = std::abs(x - v.t[i]);
      return d <= delta ? d * d / 2 : delta * (d - delta / 2);
    };
    expect_loss(fmt::format(R"({{"op": "huber", "in": ["x", "t"], "delta": {}}})", delta), v, mean_of(v, cost));
  }
}

TEST(Loss, Hinge) {
  Values v;
  for (double& t : v.t) t = t > 0 ? 1 : -1;
  expect_loss(R"({"op": "hinge", "in": ["x", "t"]})", v,
              mean_of(v, [&](double x, size_t i) { return std::max(0.0, 1 - v.t[i] * x); }));
}

// The rate as its logarithm, and as it is; counts may be whole numbers of their own type.
TEST(Loss, PoissonNegativeLogLikelihood) {
  Values v;
  for (size_t i = 0; i < v.t.size(); ++i) v.t[i] = static_cast<double>(i % 4);
  const auto of_logarithm = [&](double x, size_t i) { return std::exp(x) - v.t[i] * x; };
  expect_loss(R"({"op": "poisson_nll", "in": ["x", "t"]})", v, mean_of(v, of_logarithm));
  expect_loss(R"({"op": "poisson_nll", "in": ["x", "t"], "weights": "w"})", v, mean_of(v, of_logarithm, true));
  expect_loss(R"({"op": "poisson_nll", "in": ["x", "b"]})", v,
              mean_of(v, [&](double x, size_t i) { return std::exp(x) - static_cast<double>(v.b[i]) * x; }));
  for (double& x : v.x) x = std::abs(x) + 0.1;
  expect_loss(R"({"op": "poisson_nll", "in": ["x", "t"], "log_input": false, "eps": 0.25})", v,
              mean_of(v, [&](double x, size_t i) { return x - v.t[i] * std::log(x + 0.25); }));
}

TEST(Loss, BinaryCrossEntropy) {
  Values v;
  for (double& t : v.t) t = std::abs(t);
  const auto cost = [](double x, double t) { return -t * std::log(sigmoid(x)) - (1 - t) * std::log(1 - sigmoid(x)); };
  expect_loss(R"({"op": "binary_cross_entropy", "in": ["x", "t"]})", v,
              mean_of(v, [&](double x, size_t i) { return cost(x, v.t[i]); }));
  const auto of_labels = [&](double x, size_t i) { return cost(x, static_cast<double>(v.b[i])); };
  expect_loss(R"({"op": "binary_cross_entropy", "in": ["x", "b"]})", v, mean_of(v, of_labels));
  expect_loss(R"({"op": "binary_cross_entropy", "in": ["x", "b"], "weights": "w"})", v, mean_of(v, of_labels, true));
  expect_loss(R"({"op": "binary_cross_entropy", "in": ["x", "b"], "pos_weight": 3})", v,
              mean_of(v, [&](double x, size_t i) { return (v.b[i] != 0 ? 3 : 1) * of_labels(x, i); }));
  // One for each class: l = -(p t log sigmoid(x) + (1 - t) log(1 - sigmoid(x))), torch.nn.BCEWithLogitsLoss.
  const Vector weights = {3, 0.5, 0.5};
  const auto of_classes = [&](double x, size_t i) {
    const double p = weights[i % kColumns], t = v.t[i];
    return -(p * t * std::log(sigmoid(x)) + (1 - t) * std::log(1 - sigmoid(x)));
  };
  const std::string given = R"({"op": "binary_cross_entropy", "in": ["x", "t"], "pos_weight": [3, 0.5, "1/2.0"])";
  expect_loss(given + "}", v, mean_of(v, of_classes));
  expect_loss(given + R"(, "weights": "w"})", v, mean_of(v, of_classes, true));
}

// Boxes without a height, or without both sides, have a cost and a gradient that are numbers of everyday size, where
// torchvision's are nan.
TEST(Loss, CompleteIouOfFlatBoxes) {
  for (const Vector& box : {Vector{0, 0, 0, 0}, Vector{1, 1, 1, 1}, Vector{0, 0, 1, 0}}) {
    Training training(model(
        R"("z": {"shape": ["N", 4]}, "t": {"shape": ["N", 4]})",
        R"({"name": "p", "op": "param", "shape": [1, 4]}, {"name": "x", "op": "add", "in": ["z", "p"]})",
        R"(, "train": {"batch": {"N": 1}, "loss": {"op": "ciou", "in": ["x", "t"]}, "optimizer": {"op": "sgd", "lr": 1}})"));
    training.states["p"].real = box;
    NamedTensors in;
    in["z"] = tensor({ir::DType::f32, {1, 4}}, [](int64_t) { return 0; });
    in["t"] = in["z"];
    in["t"].real = {0, 0, 2, 1};
    const double cost = training.step(in).outputs.at(0).at(0);
    EXPECT_GT(cost, 1);
    EXPECT_LT(cost, 2);
    for (size_t i = 0; i < box.size(); ++i) EXPECT_LT(std::abs(box[i] - training.states["p"].real[i]), 2) << i;
  }
}

// Logits at which a sigmoid is 0 or 1 in double precision cost what they are off, and have a gradient of 1 at most.
TEST(Loss, BinaryCrossEntropyIsStable) {
  Values v;
  for (size_t i = 0; i < v.x.size(); ++i) v.x[i] = i % 2 == 0 ? 40 : -40;
  const auto cost = [&](double x, size_t i) { return (v.b[i] != 0) == (x > 0) ? 0.0 : std::abs(x); };
  expect_loss(R"({"op": "binary_cross_entropy", "in": ["x", "b"]})", v, mean_of(v, cost));
}

// Of logits at which a sigmoid is 0 or 1, whatever the power: that of a share of 0 would have an infinite gradient.
TEST(Loss, FocalIsStable) {
  Values v;
  for (size_t i = 0; i < v.x.size(); ++i) v.x[i] = i % 2 == 0 ? 1000 : -1000;
  for (const double gamma : {0.0, 0.5, 2.0, 5.0}) {
    Training training(loss_model(fmt::format(R"({{"op": "focal", "in": ["x", "b"], "gamma": {}}})", gamma), ""));
    training.states["p"].real = v.x;
    const double loss = training.step(v.inputs()).outputs.at(0).at(0);
    double expected = 0;
    const auto elements = static_cast<double>(v.x.size());
    for (size_t i = 0; i < v.x.size(); ++i) {
      const bool positive = v.b[i] != 0, wrong = positive != (v.x[i] > 0);
      const double weight = wrong ? (positive ? 0.25 : 0.75) / elements : 0;
      expected += weight * 1000;
      EXPECT_NEAR(v.x[i] - training.states["p"].real[i], positive ? -weight : weight, 1e-12) << gamma << " " << i;
    }
    EXPECT_NEAR(loss, expected, 1e-10) << gamma;
  }
}

// Rows in which nothing is there and nothing is found cost nothing, and have a gradient that is a number.
TEST(Loss, OverlapOfNothing) {
  Values v;
  v.b.assign(v.b.size(), 0);
  v.x.assign(v.x.size(), -1000);
  for (const std::string op : {"dice", "tversky"}) {
    Training training(loss_model(fmt::format(R"({{"op": "{}", "in": ["x", "b"]}})", op), ""));
    training.states["p"].real = v.x;
    EXPECT_EQ(training.step(v.inputs()).outputs.at(0).at(0), 0) << op;
    EXPECT_EQ(training.states["p"].real, v.x) << op;
  }
}

struct ClassCase {
  std::string settings = {};
  Vector classes = {1, 1, 1}, rows = {1, 1, 1, 1};
  double smoothing = 0;
  int64_t ignored = -100;
};

// torch.nn.functional.cross_entropy: the label's cost and, smoothed, that of all classes, over the labels' weights.
Formula cross_entropy(const Values& v, const ClassCase& c, bool of_logits = true) {
  return [=](const Vector& x) {
    double sum = 0, count = 0;
    for (int row = 0; row < kRows; ++row) {
      const int64_t label = v.y[static_cast<size_t>(row)];
      if (label == c.ignored) continue;
      double total = 0, smooth = 0;
      for (int k = 0; k < kColumns; ++k) total += std::exp(x[index(row, k)]);
      const auto cost = [&](int k) { return (of_logits ? std::log(total) : 0) - x[index(row, k)]; };
      for (int k = 0; k < kColumns; ++k) smooth += c.classes[static_cast<size_t>(k)] * cost(k);
      const double own = c.classes[static_cast<size_t>(label)], weight = c.rows[static_cast<size_t>(row)];
      sum += weight * ((1 - c.smoothing) * own * cost(static_cast<int>(label)) + c.smoothing / kColumns * smooth);
      count += weight * own;
    }
    return sum / count;
  };
}

TEST(Loss, CrossEntropy) {
  const Values v;
  const std::vector<ClassCase> cases = {
      {},
      {.settings = R"(, "label_smoothing": 0.2)", .smoothing = 0.2},
      {.settings = R"(, "class_weights": [1, 2.5, 0.5])", .classes = {1, 2.5, 0.5}},
      {.settings = R"(, "class_weights": [2, 2, 3], "label_smoothing": 0.3)", .classes = {2, 2, 3}, .smoothing = 0.3},
      {.settings = R"(, "class_weights": [2, 2, 2], "weights": "w")", .classes = {2, 2, 2}, .rows = v.w},
      {.settings = R"(, "weights": "w", "label_smoothing": 1)", .rows = v.w, .smoothing = 1}};
  for (const ClassCase& c : cases)
    expect_loss(R"({"op": "cross_entropy", "in": ["x", "y"])" + c.settings + "}", v, cross_entropy(v, c));
}

// A class may be what does not count; then a row of it has no share, smoothed or not.
TEST(Loss, CrossEntropyIgnoresAClass) {
  Values v;
  v.y = {2, 0, 1, 1};
  for (const double smoothing : {0.0, 0.1}) {
    const std::string settings = fmt::format(R"(, "ignore_index": 1, "label_smoothing": {}}})", smoothing);
    expect_loss(R"({"op": "cross_entropy", "in": ["x", "y"])" + settings, v,
                cross_entropy(v, {.smoothing = smoothing, .ignored = 1}));
  }
}

TEST(Loss, NegativeLogLikelihood) {
  const Values v;
  expect_loss(R"({"op": "nll", "in": ["x", "y"]})", v, cross_entropy(v, {}, false));
  expect_loss(R"({"op": "nll", "in": ["x", "y"], "class_weights": [1, 2, 4], "weights": "w"})", v,
              cross_entropy(v, {.classes = {1, 2, 4}, .rows = v.w}, false));
}

// Nothing counts: a sum of 0, and no gradient that is not a number.
TEST(Loss, NothingCounts) {
  Values v;
  v.y = {-100, -100, -100, -100};
  v.w = {0, 0, 0, 0};
  for (const std::string loss :
       {R"({"op": "nll", "in": ["x", "y"]})", R"({"op": "cross_entropy", "in": ["x", "y"], "label_smoothing": 0.1})",
        R"({"op": "cross_entropy", "in": ["x", "y"], "class_weights": [1, 2, 3]})",
        R"({"op": "mae", "in": ["x", "t"], "weights": "w"})", R"({"op": "multi_margin", "in": ["x", "y"]})",
        R"({"op": "dice", "in": ["x", "b"], "weights": "w"})",
        R"({"op": "triplet", "in": ["x", "t", "t"], "weights": "w"})",
        R"({"op": "cosine_embedding", "in": ["x", "t", "y"], "weights": "w"})",
        R"([{"op": "cross_entropy", "in": ["x", "y"]}, {"op": "nll", "in": ["x", "y"]}])"}) {
    Training training(loss_model(loss, ""));
    training.states["p"].real = v.x;
    const ir::Evaluation ran = training.step(v.inputs());
    EXPECT_EQ(training.states["p"].real, v.x) << loss;
    EXPECT_EQ(ran.outputs.at(0).at(0), 0) << loss;
  }
}

// A label that is no class and not ignored costs infinitely much.
TEST(Loss, LabelOfNoClass) {
  Values v;
  v.y = {2, 0, 3, 1};
  for (const std::string op : {"nll", "cross_entropy", "multi_margin"}) {
    Training training(
        loss_model(fmt::format(R"({{"op": "{}", "in": ["x", "y"], "class_weights": [1, 2, 3]}})", op), ""));
    training.states["p"].real = v.x;
    EXPECT_EQ(training.step(v.inputs()).outputs.at(0).at(0), std::numeric_limits<double>::infinity()) << op;
  }
}

TEST(Loss, KlDivergence) {
  Values v;
  for (double& t : v.t) t = std::max(0.0, t);  // some are 0
  EXPECT_EQ(std::count(v.t.begin(), v.t.end(), 0.0) > 0, true);
  for (const bool weighed : {false, true}) {
    const auto formula = [&](const Vector& x) {
      double sum = 0, count = 0;
      for (int row = 0; row < kRows; ++row) {
        const double weight = weighed ? v.w[static_cast<size_t>(row)] : 1;
        count += weight;
        for (int k = 0; k < kColumns; ++k) {
          const double t = v.t[index(row, k)];
          if (t > 0) sum += weight * t * (std::log(t) - x[index(row, k)]);
        }
      }
      return sum / count;
    };
    expect_loss(weighed ? R"({"op": "kl_divergence", "in": ["x", "t"], "weights": "w"})"
                        : R"({"op": "kl_divergence", "in": ["x", "t"]})",
                v, formula);
  }
}

const char* const kPenalty =
    R"(, {"name": "s", "op": "mul", "in": ["x", "x"]}, {"name": "penalty", "op": "sum", "in": "s"})";

TEST(Loss, ValueOfTheModel) {
  const Values v;
  const auto squares = [](const Vector& x) {
    double sum = 0;
    for (const double value : x) sum += value * value;
    return sum;
  };
  expect_loss(R"({"op": "value", "in": "penalty"})", v, squares, kPenalty);
  expect_loss(R"({"op": "value", "in": "penalty", "weight": 0.25})", v,
              [&](const Vector& x) { return 0.25 * squares(x); }, kPenalty);
  const Formula labels = cross_entropy(v, {});
  expect_loss(R"([{"op": "cross_entropy", "in": ["x", "y"]}, {"op": "value", "in": "penalty", "weight": 0.01}])", v,
              [&](const Vector& x) { return labels(x) + 0.01 * squares(x); }, kPenalty);
}

// Totals of several losses: each over what counts in it, and their weighted sum in front.
TEST(Loss, SeveralAreShownEach) {
  Values v;
  Training training(loss_model(
      R"([{"op": "cross_entropy", "in": ["x", "y"]}, {"op": "mae", "in": ["x", "t"], "weight": 3}, {"op": "mae", "in": ["x", "z"]}])",
      ""));
  training.states["p"].real = v.x;
  const double first = cross_entropy(v, {})(v.x);
  const double second = mean_of(v, [&](double x, size_t i) { return std::abs(x - v.t[i]); })(v.x);
  const double third = mean_of(v, [](double x, size_t) { return std::abs(x); })(v.x);
  training.step(v.inputs());
  training.states["p"].real = v.x;
  v.y = {-100, -100, -100, -100};  // the second batch has no label, and the same differences
  training.step(v.inputs());
  const std::vector<Tensor> shown = training.metrics();
  ASSERT_EQ(shown.size(), 4U);
  EXPECT_NEAR(shown[0].at(0), first + 3 * second + third, 1e-12);
  EXPECT_NEAR(shown[1].at(0), first, 1e-12);
  EXPECT_NEAR(shown[2].at(0), second, 1e-12);
  EXPECT_NEAR(shown[3].at(0), third, 1e-12);
  EXPECT_EQ(training.states["loss_mae_2.counted"].at(0), 24);
}

}  // namespace
}  // namespace heddle::frontend
