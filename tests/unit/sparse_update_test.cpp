// "sparse": true over 100 steps: the dense rule where a row without a gradient stays as it is, the formulas of
// torch.optim.SparseAdam and of a velocity of each row where it would not.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/host_run.h"
#include "tests/unit/built_model.h"

namespace heddle::frontend {
namespace {

constexpr size_t kVocab = 7, kUnits = 2;
constexpr int64_t kRows = 4, kLength = 3;
constexpr int kSteps = 100;

struct Told {
  bool sparse = true;
  std::string optimizer = R"("sgd")";
  std::string more = {};   // members of train
  std::string layer = {};  // settings of the embedding
  std::string nodes = {};  // between the embedding and the loss
};

// The squares of e - t, of indices [N,3].
std::string text(const Told& told, int64_t rows = kRows) {
  return model(
      R"("ids": {"shape": ["N", 3], "dtype": "i32"}, "t": {"shape": ["N", 3, 2]})",
      fmt::format(R"({{"name": "e", "op": "embedding", "in": "ids", "vocab": 7, "units": 2, "sparse": {}{}}}{})",
                  told.sparse, told.layer, told.nodes),
      fmt::format(R"(, "outputs": {{"y": "e"}}, "train": {{"batch": {{"N": {}}}, "steps": 100, {}
                           "loss": {{"op": "mse", "in": ["e", "t"]}}, "optimizer": {}}})",
                  rows, told.more, told.optimizer));
}

// Batches whose indices repeat; one in which all are equal, and rows that are not seen for long.
double index_at(int step, int64_t i) {
  if (step % 9 == 4) return step % 5;
  return static_cast<double>((i * i + static_cast<int64_t>(step) * (i % 4)) % (step < 50 ? 5 : 7));
}

ir::NamedTensors batch_of(int step, int64_t rows = kRows) {
  return {{"ids", tensor({ir::DType::i32, {rows, kLength}}, [&](int64_t i) { return index_at(step, i); })},
          {"t",
           tensor({ir::DType::f32, {rows, kLength, int64_t{kUnits}}}, [&](int64_t i) { return wave(i + 13 * step); })}};
}

void expect_equal_trainings(const Told& told, double tolerance) {
  Told dense = told;
  dense.sparse = false;
  Training a(text(told)), b(text(dense));
  ASSERT_EQ(a.states.at("e.weight").real, b.states.at("e.weight").real);
  for (int step = 0; step < kSteps; ++step) {
    a.step(batch_of(step));
    b.step(batch_of(step));
    for (const auto& [name, state] : b.states) {
      if (!name.starts_with("e.weight")) continue;
      for (size_t i = 0; i < state.real.size(); ++i)
        ASSERT_NEAR(a.states.at(name).real[i], state.real[i], tolerance)
            << told.optimizer << " " << name << "[" << i << "] after step " << step;
    }
  }
}

TEST(SparseUpdate, SgdAndAdagradAreTheDenseRule) {
  for (const char* optimizer : {R"({"op": "sgd", "lr": 0.3})", R"({"op": "adagrad", "lr": 0.1, "lr_decay": 0.05})",
                                R"({"op": "adagrad", "initial_accumulator_value": 0.1})",
                                R"({"op": "sgd", "lr": {"op": "cosine", "peak": 0.5}})"})
    expect_equal_trainings({.optimizer = optimizer}, 0);
}

TEST(SparseUpdate, OfThePaddingNothingIsTrained) {
  expect_equal_trainings({.optimizer = R"({"op": "adagrad", "lr": 0.1})", .layer = R"(, "padding": 2)"}, 0);
  Training training(text({.optimizer = R"({"op": "adam", "lr": 0.1})", .layer = R"(, "padding": 2)"}));
  const ir::Tensor before = training.states.at("e.weight");
  for (int step = 0; step < 20; ++step) training.step(batch_of(step));
  for (size_t i = 2 * kUnits; i < 3 * kUnits; ++i) EXPECT_EQ(training.states.at("e.weight").real[i], before.real[i]);
}

// The norm is that of the sums: only its order of adding differs.
TEST(SparseUpdate, GradientsAreClippedAsDenseOnes) {
  expect_equal_trainings({.optimizer = R"({"op": "sgd", "lr": 0.5})", .more = R"("clip_norm": 0.1,)"}, 1e-12);
}

// The second lookup's gradients come after the first one's: as dense, but for the order of adding.
TEST(SparseUpdate, ATableMayBeLookedUpTwice) {
  const std::string nodes = R"(, {"name": "turned", "op": "reverse", "in": "ids", "axes": [1]},
      {"name": "again", "op": "gather", "in": ["e.weight", "turned"]},
      {"name": "both", "op": "mul", "in": ["e", "again"]})";
  Told told{.optimizer = R"({"op": "adagrad", "lr": 0.1})", .nodes = nodes};
  const auto with = [&](bool sparse) {
    told.sparse = sparse;
    std::string all = text(told);
    all.replace(all.find(R"("in": ["e", "t"])"), 16, R"("in": ["both", "t"])");
    return all;
  };
  Training a(with(true)), b(with(false));
  for (int step = 0; step < kSteps; ++step) {
    a.step(batch_of(step));
    b.step(batch_of(step));
    for (size_t i = 0; i < kVocab * kUnits; ++i)
      ASSERT_NEAR(a.states.at("e.weight").real[i], b.states.at("e.weight").real[i], 1e-12) << "step " << step;
  }
}

// The rows of a batch, each with the sum of its gradients.
std::map<size_t, std::vector<double>> gradients(const std::vector<double>& w, const ir::NamedTensors& batch) {
  std::map<size_t, std::vector<double>> sums;
  const ir::Tensor &ids = batch.at("ids"), &t = batch.at("t");
  const double share = 2.0 / static_cast<double>(t.elements());
  for (size_t i = 0; i < ids.integer.size(); ++i) {
    const auto row = static_cast<size_t>(ids.integer[i]);
    std::vector<double>& sum = sums.try_emplace(row, kUnits, 0.0).first->second;
    for (size_t c = 0; c < kUnits; ++c) sum[c] += share * (w[row * kUnits + c] - t.real[i * kUnits + c]);
  }
  return sums;
}

using RowRule = std::function<void(double& w, double gradient, size_t element, int step)>;

void follow_rows(const std::string& optimizer, const RowRule& rule) {
  Training training(text({.optimizer = optimizer}));
  std::vector<double> w = training.states.at("e.weight").real;
  for (int step = 0; step < kSteps; ++step) {
    const ir::NamedTensors batch = batch_of(step);
    for (const auto& [row, sum] : gradients(w, batch))
      for (size_t c = 0; c < kUnits; ++c) rule(w[row * kUnits + c], sum[c], row * kUnits + c, step);
    training.step(batch);
    for (size_t i = 0; i < w.size(); ++i)
      ASSERT_NEAR(training.states.at("e.weight").real[i], w[i], 1e-9) << optimizer << " step " << step;
  }
}

TEST(SparseUpdate, AdamIsSparseAdam) {
  std::vector<double> m(kVocab * kUnits, 0), v(kVocab * kUnits, 0);
  follow_rows(R"({"op": "adam", "lr": 0.05, "betas": [0.8, 0.95], "eps": 1e-3})",
              [&](double& w, double g, size_t i, int step) {
                m[i] += (1 - 0.8) * (g - m[i]);
                v[i] += (1 - 0.95) * (g * g - v[i]);
                const double first = 1 - std::pow(0.8, step + 1), second = 1 - std::pow(0.95, step + 1);
                w -= 0.05 * std::sqrt(second) / first * m[i] / (std::sqrt(v[i]) + 1e-3);
              });
}

TEST(SparseUpdate, AVelocityIsThatOfItsRow) {
  for (const bool nesterov : {false, true}) {
    std::vector<double> velocity(kVocab * kUnits, 0);
    follow_rows(fmt::format(R"({{"op": "sgd", "lr": 0.2, "momentum": 0.9, "nesterov": {}}})", nesterov),
                [&](double& w, double g, size_t i, int) {
                  velocity[i] = 0.9 * velocity[i] + g;
                  w -= 0.2 * (nesterov ? g + 0.9 * velocity[i] : velocity[i]);
                });
  }
}

TEST(SparseUpdate, GroupsHaveRatesOfTheirOwnAndFrozenTablesStay) {
  const std::string groups = R"({"op": "sgd", "lr": 100, "weight_decay": 0.5,
      "groups": [{"match": "e.weight", "lr": 0.3, "weight_decay": 0}]})";
  Training grouped(text({.optimizer = groups})), plain(text({.optimizer = R"({"op": "sgd", "lr": 0.3})"}));
  for (int step = 0; step < 5; ++step) {
    grouped.step(batch_of(step));
    plain.step(batch_of(step));
  }
  EXPECT_EQ(grouped.states.at("e.weight").real, plain.states.at("e.weight").real);

  const std::string other =
      R"(, {"name": "w", "op": "param", "shape": [2]}, {"name": "s", "op": "mul", "in": ["e", "w"]})";
  Told told{.optimizer = R"({"op": "adamw", "lr": 0.1})", .more = R"("freeze": ["e.*"],)", .nodes = other};
  std::string all = text(told);
  all.replace(all.find(R"("in": ["e", "t"])"), 16, R"("in": ["s", "t"])");
  Training frozen(all);
  const ir::Tensor before = frozen.states.at("e.weight"), w = frozen.states.at("w");
  frozen.step(batch_of(0));
  EXPECT_EQ(frozen.states.at("e.weight").real, before.real);
  EXPECT_NE(frozen.states.at("w").real, w.real);
  EXPECT_EQ(frozen.states.count("e.weight.m"), 0U);
}

// In f32 on the host: the dense step's bits, whatever the number of threads, in batches of one row and of many.
TEST(SparseUpdate, TheHostFindsTheBitsOfTheDenseRule) {
  for (const char* optimizer : {R"({"op": "sgd", "lr": 0.3})", R"({"op": "adagrad", "lr": 0.1})"})
    for (const int64_t rows : {int64_t{1}, int64_t{4}, int64_t{700}}) {
      const auto after = [&](bool sparse, int threads) {
        const std::unique_ptr<Built> built = build(text({.sparse = sparse, .optimizer = optimizer}, rows));
        testing::HostRun run(built->module, "train", {.threads = threads});
        ir::NamedTensors states = Training(text({.optimizer = optimizer}, rows)).states;
        for (int step = 0; step < 12; ++step) {
          ir::NamedTensors in = states;
          for (const auto& [name, t] : batch_of(step, rows)) in.insert_or_assign(name, t);
          for (const auto& [name, t] : run(in).updated) states.insert_or_assign(name, t);
        }
        return states.at("e.weight").real;
      };
      const std::vector<double> dense = after(false, 1);
      for (const int threads : {1, 2, 3}) EXPECT_EQ(after(true, threads), dense) << optimizer << " of " << rows;
    }
}

}  // namespace
}  // namespace heddle::frontend
