// Metrics of classes over a split of several batches, against counts made row by row.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/support/host_run.h"
#include "tests/unit/built_model.h"

namespace heddle::frontend {
namespace {

constexpr int kRows = 6, kClasses = 5;

struct Batch {
  std::vector<double> logits;
  std::vector<int64_t> labels;
};

// Many logits are equal, so that ties count; the labels of the last batch count for nothing.
std::vector<Batch> batches() {
  std::vector<Batch> all(3);
  for (int n = 0; n < 3; ++n)
    for (int row = 0; row < kRows; ++row) {
      for (int k = 0; k < kClasses; ++k)
        all[static_cast<size_t>(n)].logits.push_back((n * 7 + row * 3 + k * k) % 4 - 1);
      all[static_cast<size_t>(n)].labels.push_back(n == 2 || row == 4 ? -100 : (n + 2 * row) % kClasses);
    }
  return all;
}

std::string class_model(const std::string& metrics) {
  return model(
      R"("x": {"shape": ["N", 5]}, "y": {"shape": ["N"], "dtype": "i32"})",
      R"({"name": "s", "op": "param", "shape": [5], "init": "ones"}, {"name": "p", "op": "mul", "in": ["x", "s"]})",
      fmt::format(R"(, "train": {{"batch": {{"N": 6}}, "loss": {{"op": "cross_entropy", "in": ["p", "y"]}},
                        "metrics": [{}], "optimizer": {{"op": "sgd", "lr": 0}}}})",
                  metrics));
}

ir::NamedTensors inputs_of(const Batch& batch) {
  ir::NamedTensors in;
  in["x"] = ir::Tensor({ir::DType::f32, {kRows, kClasses}});
  in["x"].real = batch.logits;
  in["y"] = ir::Tensor({ir::DType::i32, {kRows}});
  in["y"].integer = batch.labels;
  return in;
}

// The metric of all batches, one after another: each of its numbers.
std::vector<double> all_measured(const std::string& metric) {
  Training training(class_model(metric));
  training.states["s"].real = std::vector<double>(kClasses, 1);
  for (const Batch& batch : batches()) training.step(inputs_of(batch));
  return training.metrics().at(1).real;
}
double measured(const std::string& metric) { return all_measured(metric).at(0); }

// The share of counted labels among the first k when classes are sorted by logit, equal ones by number.
double top_k(int64_t k, int64_t ignored) {
  double hits = 0, count = 0;
  for (const Batch& batch : batches())
    for (size_t row = 0; row < kRows; ++row) {
      const int64_t label = batch.labels[row];
      if (label == ignored) continue;
      ++count;
      std::vector<int64_t> order(kClasses);
      for (size_t i = 0; i < kClasses; ++i) order[i] = static_cast<int64_t>(i);
      std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
        return batch.logits[row * kClasses + static_cast<size_t>(a)] >
               batch.logits[row * kClasses + static_cast<size_t>(b)];
      });
      hits += std::find(order.begin(), order.begin() + k, label) != order.begin() + k;
    }
  return hits / count;
}

TEST(Metric, TopKAccuracy) {
  for (int64_t k = 1; k <= kClasses; ++k)
    EXPECT_DOUBLE_EQ(measured(fmt::format(R"({{"op": "top_k_accuracy", "in": ["p", "y"], "k": {}}})", k)),
                     top_k(k, -100))
        << k;
  EXPECT_DOUBLE_EQ(measured(R"({"op": "accuracy", "in": ["p", "y"]})"), top_k(1, -100));
}

// One relevance below 0 that is not ignored makes it nan; those that are ignored do not.
TEST(Metric, NdcgOfNegativeRelevances) {
  const auto of_lists = [](const std::vector<double>& relevances) {
    Training training(model(
        R"("x": {"shape": ["N", 3]}, "r": {"shape": ["N", 3]})",
        R"({"name": "p", "op": "dense", "in": "x", "units": 3})",
        R"(, "train": {"batch": {"N": 2}, "loss": {"op": "mse", "in": ["p", "x"]}, "optimizer": {"op": "sgd", "lr": 0},
             "metrics": [{"op": "ndcg", "in": ["p", "r"]}]})"));
    ir::NamedTensors in;
    in["x"] = tensor({ir::DType::f32, {2, 3}}, wave);
    in["r"] = in["x"];
    in["r"].real = relevances;
    training.step(in);
    return training.metrics().at(1).at(0);
  };
  EXPECT_TRUE(std::isnan(of_lists({1, 0, 2, 0, -1, 1})));
  EXPECT_TRUE(std::isnan(of_lists({1, 0, 2, 0, -1, 0})));
  EXPECT_GT(of_lists({1, 0, 2, 0, -100, 1}), 0);
  EXPECT_EQ(of_lists({0, 0, 0, 0, -100, 0}), 0);
}

// A class that does not count; the labels of -100 then are misses.
TEST(Metric, IgnoresAClass) {
  for (const std::string metric : {R"("top_k_accuracy", "k": 2)", R"("accuracy")"})
    EXPECT_DOUBLE_EQ(measured(R"({"op": )" + metric + R"(, "in": ["p", "y"], "ignore_index": 2})"),
                     top_k(metric == R"("accuracy")" ? 1 : 2, 2));
}

struct Counts {
  double both = 0, predicted = 0, actual = 0;
};

// rows[i][j]: of class i, predicted as j.
std::vector<double> matrix_of_classes() {
  std::vector<double> rows(static_cast<size_t>(kClasses) * kClasses);
  for (const Batch& batch : batches())
    for (size_t row = 0; row < kRows; ++row) {
      const int64_t label = batch.labels[row];
      if (label == -100) continue;
      const auto first = batch.logits.begin() + static_cast<std::ptrdiff_t>(row * kClasses);
      const auto best = std::max_element(first, first + kClasses) - first;
      ++rows[static_cast<size_t>(label * kClasses + best)];
    }
  return rows;
}

// Of each class, and of all together.
std::vector<Counts> counts_of_classes() {
  std::vector<Counts> of(kClasses + 1);
  const std::vector<double> rows = matrix_of_classes();
  for (size_t i = 0; i < rows.size(); ++i) {
    const size_t actual = i / kClasses, predicted = i % kClasses;
    for (const size_t all : {size_t{0}, size_t{1}}) {
      of[all != 0 ? kClasses : predicted].predicted += rows[i];
      of[all != 0 ? kClasses : actual].actual += rows[i];
      if (actual == predicted) of[all != 0 ? kClasses : actual].both += rows[i];
    }
  }
  return of;
}

// Counts of one class, or of all of them summed.
TEST(Metric, CountsOfClasses) {
  const std::vector<Counts> of = counts_of_classes();
  for (size_t k = 0; k <= kClasses; ++k) {
    const Counts& n = of[k];
    const std::string which = k == kClasses ? R"("average": "micro")" : fmt::format(R"("class": {})", k);
    const auto expect = [&](const std::string& op, double above, double below) {
      const double found = measured(fmt::format(R"({{"op": "{}", "in": ["p", "y"], {}}})", op, which));
      if (below == 0) {
        EXPECT_TRUE(std::isnan(found)) << op << which;
      } else {
        EXPECT_DOUBLE_EQ(found, above / below) << op << which;
      }
    };
    expect("precision", n.both, n.predicted);
    expect("recall", n.both, n.actual);
    expect("f1", 2 * n.both, n.predicted + n.actual);
    expect("iou", n.both, n.predicted + n.actual - n.both);
  }
}

// Each class, and their mean: what would be 0 / 0 counts as 0. No row is predicted as one of the
// classes, and none is of it.
TEST(Metric, AveragesOfClasses) {
  const std::vector<Counts> of = counts_of_classes();
  const auto expect = [&](const std::string& op, double (*above)(const Counts&), double (*below)(const Counts&)) {
    const std::vector<double> found =
        all_measured(fmt::format(R"({{"op": "{}", "in": ["p", "y"], "average": "none"}})", op));
    ASSERT_EQ(found.size(), size_t{kClasses});
    double sum = 0;
    for (size_t k = 0; k < kClasses; ++k) {
      const double ratio = below(of[k]) == 0 ? 0 : above(of[k]) / below(of[k]);
      EXPECT_DOUBLE_EQ(found[k], ratio) << op << k;
      sum += ratio;
    }
    EXPECT_DOUBLE_EQ(measured(fmt::format(R"({{"op": "{}", "in": ["p", "y"], "average": "macro"}})", op)),
                     sum / kClasses)
        << op;
  };
  const auto both = [](const Counts& n) { return n.both; };
  expect("precision", both, [](const Counts& n) { return n.predicted; });
  expect("recall", both, [](const Counts& n) { return n.actual; });
  expect(
      "f1", [](const Counts& n) { return 2 * n.both; }, [](const Counts& n) { return n.predicted + n.actual; });
  expect("iou", both, [](const Counts& n) { return n.predicted + n.actual - n.both; });
}

TEST(Metric, Confusion) { EXPECT_EQ(all_measured(R"({"op": "confusion", "in": ["p", "y"]})"), matrix_of_classes()); }

constexpr int kScores = 40;

struct Scored {
  std::vector<double> scores;
  std::vector<double> targets;  // 0, 1, or -100: ignored
};
Scored scored(int batch) {
  Scored s;
  for (int i = 0; i < kScores; ++i) {
    s.scores.push_back(3 * wave(17 * i + batch));
    s.targets.push_back(i % 9 == 4 || batch == 2 ? -100 : s.scores.back() + 2 * wave(5 * i) > 0 ? 1 : 0);
  }
  return s;
}

std::string pair_model(const std::string& metrics) {
  return model(
      R"("x": {"shape": ["N"]}, "t": {"shape": ["N"]})",
      R"({"name": "s", "op": "param", "shape": [], "init": "ones"}, {"name": "p", "op": "mul", "in": ["x", "s"]})",
      fmt::format(R"(, "train": {{"batch": {{"N": 40}}, "loss": {{"op": "mse", "in": ["p", "t"]}},
                        "metrics": [{}], "optimizer": {{"op": "sgd", "lr": 0}}}})",
                  metrics));
}
ir::NamedTensors inputs_of(const Scored& s) {
  ir::NamedTensors in;
  in["x"] = ir::Tensor({ir::DType::f32, {kScores}});
  in["x"].real = s.scores;
  in["t"] = ir::Tensor({ir::DType::f32, {kScores}});
  in["t"].real = s.targets;
  return in;
}

// How often the positive one of a pair has the larger score, by looking at all pairs; equal ones are half.
double pairs_won(int64_t bins) {
  double won = 0, all = 0;
  std::vector<double> place, target;
  for (int batch = 0; batch < 3; ++batch) {
    const Scored s = scored(batch);
    for (size_t i = 0; i < kScores; ++i) {
      const double share = 1 / (1 + std::exp(-s.scores[i]));
      place.push_back(bins == 0 ? share : std::floor(share * static_cast<double>(bins)));
      target.push_back(s.targets[i]);
    }
  }
  for (size_t i = 0; i < place.size(); ++i)
    for (size_t j = 0; j < place.size(); ++j) {
      if (target[i] != 1 || target[j] != 0) continue;
      ++all;
      won += place[i] > place[j] ? 1 : place[i] == place[j] ? 0.5 : 0;
    }
  return won / all;
}

// Exact for the scores' bins, and with many bins near what the scores themselves give.
TEST(Metric, AreaUnderTheCurve) {
  for (const int64_t bins : {int64_t{2}, int64_t{16}, int64_t{512}}) {
    Training training(pair_model(fmt::format(R"({{"op": "auc", "in": ["p", "t"], "bins": {}}})", bins)));
    training.states["s"].real = {1};
    for (int batch = 0; batch < 3; ++batch) training.step(inputs_of(scored(batch)));
    const double found = training.metrics().at(1).at(0);
    EXPECT_DOUBLE_EQ(found, pairs_won(bins)) << bins;
    if (bins == 512) {
      EXPECT_NEAR(found, pairs_won(0), 2e-3);
    }
  }
}

// Scores whose sigmoid is 0 or 1 to the last bit lie in the first and the last bin.
TEST(Metric, AreaUnderTheCurveOfSaturatedScores) {
  Scored s;
  for (int i = 0; i < kScores; ++i) {
    s.targets.push_back(i % 3 == 0 ? 1 : 0);
    s.scores.push_back(i % 3 == 0 ? 1000 : -1000);
  }
  Training training(pair_model(R"({"op": "auc", "in": ["p", "t"]})"));
  training.states["s"].real = {1};
  training.step(inputs_of(s));
  EXPECT_EQ(training.metrics().at(1).at(0), 1);
}

// Targets far from 0: a sum of their squares would have lost their variance.
TEST(Metric, ShareOfTheVariance) {
  constexpr double kFar = 1e9;
  Training training(pair_model(R"({"op": "r2", "in": ["p", "t"]})"));
  training.states["s"].real = {1};
  std::vector<double> predicted, target;
  for (int batch = 0; batch < 3; ++batch) {
    Scored s = scored(batch);
    for (size_t i = 0; i < kScores; ++i) {
      s.targets[i] = kFar + s.scores[i] + wave(static_cast<int64_t>(3 * i));
      s.scores[i] += kFar;
      predicted.push_back(s.scores[i]), target.push_back(s.targets[i]);
    }
    training.step(inputs_of(s));
  }
  double mean = 0, errors = 0, deviations = 0;
  for (const double t : target) mean += (t - kFar) / static_cast<double>(target.size());
  for (size_t i = 0; i < target.size(); ++i) {
    errors += (target[i] - predicted[i]) * (target[i] - predicted[i]);
    deviations += (target[i] - kFar - mean) * (target[i] - kFar - mean);
  }
  EXPECT_NEAR(training.metrics().at(1).at(0), 1 - errors / deviations, 1e-7);
}

// Predictions x and targets t of two numbers a row, and a metric of both.
Training two_columns(const std::string& metric, int batch) {
  Training training(model(
      R"("x": {"shape": ["N", 2]}, "t": {"shape": ["N", 2]})",
      R"({"name": "s", "op": "param", "shape": [2], "init": "ones"}, {"name": "p", "op": "mul", "in": ["x", "s"]})",
      fmt::format(
          R"(, "train": {{"batch": {{"N": {}}}, "loss": {{"op": "mse", "in": ["p", "t"]}}, "metrics": [{{"op": "{}", "in": ["p", "t"]}}],
         "optimizer": {{"op": "sgd", "lr": 0}}}})",
          batch, metric)));
  training.states["s"].real = {1, 1};
  return training;
}

// Of rows with several numbers the mean over these.
TEST(Metric, ShareOfTheVarianceOfRows) {
  Training training = two_columns("r2", 4);
  ir::NamedTensors in;
  in["x"] = in["t"] = ir::Tensor({ir::DType::f32, {4, 2}});
  in["x"].real = {2.5, 0, 0, 2, 2, -1, 8, 0};  // 0: errors 1.5 of deviations 29.1875; 1: 6 of 4.75
  in["t"].real = {3, -0.5, -0.5, 2, 2, 0, 7, 1.5};
  training.step(in);
  const double first = 1 - 1.5 / (0.125 * 0.125 + 3.375 * 3.375 + 0.875 * 0.875 + 4.125 * 4.125);
  const double second = 1 - (0.25 + 0 + 1 + 2.25) / (1.25 * 1.25 + 1.25 * 1.25 + 0.75 * 0.75 + 0.75 * 0.75);
  EXPECT_NEAR(training.metrics().at(1).at(0), (first + second) / 2, 1e-12);
}

// Targets of 0, too: by scikit-learn's formula.
TEST(Metric, MeanAbsolutePercentageError) {
  Training training = two_columns("mape", 2);
  const std::vector<std::vector<double>> predicted = {{2.5, 0, 0, 2}, {2, -1, 8, 1e-9}};
  const std::vector<std::vector<double>> target = {{3, -0.5, 0, 4}, {-2, -0.25, 7, 0}};
  double sum = 0;
  for (size_t batch = 0; batch < predicted.size(); ++batch) {
    ir::NamedTensors in;
    in["x"] = in["t"] = ir::Tensor({ir::DType::f32, {2, 2}});
    in["x"].real = predicted[batch], in["t"].real = target[batch];
    training.step(in);
    for (size_t i = 0; i < 4; ++i)
      sum += std::abs(predicted[batch][i] - target[batch][i]) /
             std::max(std::abs(target[batch][i]), std::numeric_limits<double>::epsilon());
  }
  EXPECT_NEAR(training.metrics().at(1).at(0), sum / 8, 1e-12 * sum);
}

// The kernels count what the oracles count.
TEST(Metric, OnTheHost) {
  std::string metrics = R"({"op": "confusion", "in": ["p", "y"]})";
  for (const std::string op : {"precision", "recall", "f1", "iou"})
    for (const std::string average : {"none", "macro", "micro"})
      metrics += fmt::format(R"(, {{"op": "{}", "in": ["p", "y"], "average": "{}"}})", op, average);
  const auto built = build(class_model(metrics));
  testing::HostRun run(built->module, "train");
  ir::NamedTensors states = run("init", {}).updated;
  for (const Batch& batch : batches()) {
    ir::NamedTensors in = inputs_of(batch);
    in.insert(states.begin(), states.end());
    for (const auto& [name, value] : run("train", in).updated) states[name] = value;
  }
  Training training(class_model(metrics));
  for (const Batch& batch : batches()) training.step(inputs_of(batch));
  const std::vector<ir::Tensor> expected = training.metrics(), found = run("metrics", states).outputs;
  for (size_t i = 1; i < expected.size(); ++i) EXPECT_EQ(found.at(i).real, expected[i].real) << i;
}

// In f32 a score may lie in the bin beside.
TEST(Metric, OfNumbersOnTheHost) {
  const std::string text = pair_model(R"({"op": "auc", "in": ["p", "t"]}, {"op": "r2", "in": ["p", "t"]})");
  testing::HostRun run(build(text)->module, "train");
  ir::NamedTensors states = run("init", {}).updated;
  Training training(text);
  for (int batch = 0; batch < 3; ++batch) {
    ir::NamedTensors in = inputs_of(scored(batch));
    training.step(in);
    in.insert(states.begin(), states.end());
    for (const auto& [name, value] : run("train", in).updated) states[name] = value;
  }
  const std::vector<ir::Tensor> found = run("metrics", states).outputs;
  EXPECT_NEAR(found.at(1).at(0), training.metrics().at(1).at(0), 1e-3);
  EXPECT_NEAR(found.at(2).at(0), training.metrics().at(2).at(0), 1e-6);
}

}  // namespace
}  // namespace heddle::frontend
