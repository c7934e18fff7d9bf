// Metrics of classes over a split of several batches, against counts made row by row.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

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

// The metric of all batches, one after another.
double measured(const std::string& metric) {
  Training training(model(
      R"("x": {"shape": ["N", 5]}, "y": {"shape": ["N"], "dtype": "i32"})",
      R"({"name": "s", "op": "param", "shape": [5], "init": "ones"}, {"name": "p", "op": "mul", "in": ["x", "s"]})",
      fmt::format(R"(, "train": {{"batch": {{"N": 6}}, "loss": {{"op": "cross_entropy", "in": ["p", "y"]}},
                        "metrics": [{}], "optimizer": {{"op": "sgd", "lr": 0}}}})",
                  metric)));
  training.states["s"].real = std::vector<double>(kClasses, 1);
  for (const Batch& batch : batches()) {
    ir::NamedTensors in;
    in["x"] = ir::Tensor({ir::DType::f32, {kRows, kClasses}});
    in["x"].real = batch.logits;
    in["y"] = ir::Tensor({ir::DType::i32, {kRows}});
    in["y"].integer = batch.labels;
    training.step(in);
  }
  return training.metrics().at(1).at(0);
}

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

// A class that does not count; the labels of -100 then are misses.
TEST(Metric, IgnoresAClass) {
  for (const std::string metric : {R"("top_k_accuracy", "k": 2)", R"("accuracy")"})
    EXPECT_DOUBLE_EQ(measured(R"({"op": )" + metric + R"(, "in": ["p", "y"], "ignore_index": 2})"),
                     top_k(metric == R"("accuracy")" ? 1 : 2, 2));
}

// Counts of one class, or of all of them summed.
TEST(Metric, CountsOfClasses) {
  struct Counts {
    double both = 0, predicted = 0, actual = 0;
  };
  std::vector<Counts> of(kClasses + 1);  // the last: all together
  for (const Batch& batch : batches())
    for (size_t row = 0; row < kRows; ++row) {
      const int64_t label = batch.labels[row];
      if (label == -100) continue;
      const auto first = batch.logits.begin() + static_cast<std::ptrdiff_t>(row * kClasses);
      const int64_t best = std::max_element(first, first + kClasses) - first;
      for (const size_t all : {size_t{0}, size_t{1}}) {
        ++of[all != 0 ? kClasses : static_cast<size_t>(best)].predicted;
        Counts& own = of[all != 0 ? kClasses : static_cast<size_t>(label)];
        ++own.actual;
        own.both += best == label;
      }
    }
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

}  // namespace
}  // namespace heddle::frontend
