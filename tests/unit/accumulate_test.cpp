// Steps in micro-batches beside the same steps at once, in double precision: losses, weights and all states are equal but
// for the order of sums.
#include "frontend/training/accumulate.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "passes/pipeline.h"
#include "tests/unit/built_model.h"

namespace heddle::frontend {
namespace {

// Of a model with "PARTS" where its number of micro-batches stands.
std::string with_parts(std::string text, int parts) {
  return text.replace(text.find("PARTS"), 5, std::to_string(parts));
}

void expect_near(const ir::Tensor& a, const ir::Tensor& b, const std::string& what) {
  ASSERT_EQ(a.type, b.type) << what;
  for (size_t i = 0; i < a.real.size(); ++i)
    if (std::isnan(b.real[i]))
      EXPECT_TRUE(std::isnan(a.real[i])) << what << " " << i;
    else
      ASSERT_NEAR(a.real[i], b.real[i], 1e-11 * std::max(1.0, std::abs(b.real[i]))) << what << " " << i;
  EXPECT_EQ(a.integer, b.integer) << what;
}

// Three steps each way.
void expect_equal_steps(const std::string& text, const ir::NamedTensors& inputs,
                        const std::vector<int>& parts = {2, 4, 8}) {
  Training whole(with_parts(text, 1));
  std::vector<ir::Tensor> losses;
  for (int step = 0; step < 3; ++step) losses.push_back(whole.step(inputs).outputs.at(0));
  for (const int k : parts) {
    Training apart(with_parts(text, k));
    for (size_t step = 0; step < 3; ++step)
      expect_near(apart.step(inputs).outputs.at(0), losses[step], fmt::format("loss of step {} in {} parts", step, k));
    for (const auto& [name, value] : whole.states)
      expect_near(apart.states.at(name), value, fmt::format("{} in {} parts", name, k));
    EXPECT_EQ(apart.states.size(), whole.states.size());
  }
}

ir::Tensor reals(const ir::Dims& dims, int64_t shift = 0) {
  return tensor({ir::DType::f32, dims}, [shift](int64_t i) { return wave(i + shift); });
}
ir::Tensor numbers(const ir::Dims& dims, const std::function<double(int64_t)>& f) {
  return tensor({ir::DType::i32, dims}, f);
}

constexpr const char* kRow =
    R"("x": {"shape": ["N", 5]}, "t": {"shape": ["N"], "dtype": "i32"}, "w": {"shape": ["N"]})";

ir::NamedTensors rows() {
  return {{"x", reals({8, 5})},
          {"t", numbers({8}, [](int64_t i) { return i == 1 || i > 5 ? -100 : static_cast<double>(i % 3); })},
          {"w", tensor({ir::DType::f32, {8}}, [](int64_t i) { return 0.25 * static_cast<double>(i); })}};
}

// Labels that do not count, weights of rows and classes, dropout, several losses, penalties, clipping, groups, an average.
TEST(Accumulate, IsAStepOfAllRows) {
  const std::string nodes = R"({"name": "h", "op": "dense", "in": "x", "units": 6, "activation": "tanh"},
                               {"name": "d", "op": "dropout", "rate": 0.4},
                               {"name": "y", "op": "dense", "in": "d", "units": 3}, {"name": "v", "op": "mean", "in": "h", "axis": -1})";
  const std::string text = model(kRow, nodes, R"(, "train": {"batch": {"N": 8}, "accumulate": PARTS,
      "loss": [{"op": "cross_entropy", "in": ["y", "t"], "weights": "w", "class_weights": [1, 2, 0.5], "label_smoothing": 0.1},
               {"op": "mse", "in": ["v", "w"], "weight": 0.3}],
      "metrics": [{"op": "accuracy", "in": ["y", "t"]}, {"op": "f1", "in": ["y", "t"], "average": "macro"}],
      "regularize": [{"op": "l2", "match": "*.weight", "weight": 0.1}], "clip_norm": 0.2, "average": {"decay": 0.9},
      "constrain": [{"op": "max_norm", "match": "h.weight", "max": 1}],
      "optimizer": {"op": "adam", "lr": 0.05, "groups": [{"match": "*.bias", "lr": 0.01}]}})");
  expect_equal_steps(text, rows());
}

TEST(Accumulate, CountsOneLossOfManyLabels) {
  const std::string text = model(kRow, R"({"name": "y", "op": "dense", "in": "x", "units": 3})",
                                 R"(, "train": {"batch": {"N": 8}, "accumulate": PARTS, "freeze": ["y.bias"],
      "loss": {"op": "cross_entropy", "in": ["y", "t"]}, "optimizer": {"op": "sgd", "lr": 0.5, "momentum": 0.9}})");
  expect_equal_steps(text, rows());
  ir::NamedTensors none = rows();
  none["t"] = numbers({8}, [](int64_t) { return -100; });
  expect_equal_steps(text, none);
}

// Draws of nodes, of layers' loops, of blocks that are scanned, of the weights that attention drops.
TEST(Accumulate, DrawsByTheRowsOfTheStep) {
  const std::string text = fmt::format(
      R"({{"format": "heddle-model/1", "name": "m", "inputs": {{"x": {{"shape": ["N", 4, 6]}}, "t": {{"shape": ["N", 6]}}}},
          "blocks": {{"cell": {{"inputs": ["h", "u"], "nodes": [{{"name": "z", "op": "random_normal", "shape": ["N", 6], "std": 0.1}},
            {{"name": "a", "op": "add", "in": ["h", "u"]}}, {{"name": "b", "op": "mul", "in": ["a", 0.5]}},
            {{"name": "n", "op": "add", "in": ["b", "z"]}}], "output": "n"}}}},
          "nodes": [{{"name": "l", "op": "lstm", "in": "x", "units": 6, "layers": 2, "dropout": 0.3, "out": ["seq", "hn", "cn"]}},
            {{"name": "q", "op": "multi_head_attention", "in": "seq", "heads": 2, "dropout": 0.25}},
            {{"name": "s", "op": "scan", "block": "cell", "in": {{"u": "q"}}, "carry": {{"h": ["N", 6]}}, "slice": ["u"],
            "out": ["last", "all"]}},
            {{"name": "k", "op": "random_uniform", "shape": [6]}}, {{"name": "y", "op": "mul", "in": ["last", "k"]}}],
          "train": {{"batch": {{"N": 8}}, "accumulate": PARTS, "loss": {{"op": "mse", "in": ["y", "t"]}},
            "optimizer": {{"op": "sgd", "lr": 0.3}}}}}})");
  expect_equal_steps(text, {{"x", reals({8, 4, 6})}, {"t", reals({8, 6}, 5)}}, {2, 4});
}

// Derivatives that the model asks for, tables that are looked up, what layers share.
TEST(Accumulate, DifferentiatesGradientsAndLookups) {
  const std::string text = model(
      R"("x": {"shape": ["N", 2]}, "i": {"shape": ["N", 3], "dtype": "i32"})",
      R"({"name": "e", "op": "embedding", "in": "i", "vocab": 7, "units": 2}, {"name": "m", "op": "mean", "axis": 1},
               {"name": "a", "op": "add", "in": ["m", "x"]}, {"name": "f", "op": "dense", "in": "a", "units": 4, "activation": "tanh"},
               {"name": "g", "op": "dense", "in": "f", "units": 2},
               {"name": "h", "op": "dense", "in": "g", "units": 4, "activation": "tanh", "share": "f"},
               {"name": "u", "op": "mean", "in": "h", "axis": -1},
               {"name": "du", "op": "gradient", "in": ["u", "x"]})",
      R"(, "train": {"batch": {"N": 8}, "accumulate": PARTS, "loss": {"op": "mse", "in": ["du", "x"]},
               "optimizer": {"op": "adagrad", "lr": 0.1}})");
  expect_equal_steps(
      text, {{"x", reals({8, 2})}, {"i", numbers({8, 3}, [](int64_t i) { return static_cast<double>(i * 5 % 7); })}});
}

// What a stateful layer keeps of each row, and totals that go on.
TEST(Accumulate, KeepsStatesOfRows) {
  const std::string text =
      model(R"("x": {"shape": ["N", 3, 2]}, "t": {"shape": ["N", 3, 4]})",
            R"({"name": "l", "op": "gru", "in": "x", "units": 4, "stateful": true, "out": ["seq", "hn"]})",
            R"(, "train": {"batch": {"N": 8}, "accumulate": PARTS, "loss": {"op": "huber", "in": ["seq", "t"]},
               "optimizer": {"op": "adam", "lr": 0.1}})");
  expect_equal_steps(text, {{"x", reals({8, 3, 2})}, {"t", reals({8, 3, 4}, 7)}});
}

// A norm of a micro-batch is one of its rows; statistics are renewed in order, by each use of a shared layer.
TEST(Accumulate, RenewsStatisticsInOrder) {
  const std::string text = model(
      R"("x": {"shape": ["N", 3]}, "t": {"shape": ["N", 3]})",
      R"({"name": "b", "op": "batch_norm", "in": "x"}, {"name": "c", "op": "batch_norm", "in": "b", "share": "b"})",
      R"(, "train": {"batch": {"N": ROWS}, "accumulate": PARTS, "loss": {"op": "mse", "in": ["c", "t"]},
               "optimizer": {"op": "sgd", "lr": 0}})");
  const auto of = [&](int rows, int parts) {
    std::string own = with_parts(text, parts);
    return own.replace(own.find("ROWS"), 4, std::to_string(rows));
  };
  Training at_once(of(4, 1)), apart(of(8, 2));
  const auto part = [](int64_t first, int64_t shift) { return reals({4, 3}, first * 3 + shift); };
  const double first = at_once.step({{"x", part(0, 0)}, {"t", part(0, 9)}}).outputs.at(0).real[0];
  const double second = at_once.step({{"x", part(4, 0)}, {"t", part(4, 9)}}).outputs.at(0).real[0];
  const double both = apart.step({{"x", reals({8, 3})}, {"t", reals({8, 3}, 9)}}).outputs.at(0).real[0];
  EXPECT_NEAR(both, (first + second) / 2, 1e-12);
  for (const auto& [name, value] : at_once.states)
    if (name != "step") expect_near(apart.states.at(name), value, name);
}

// Rows that are left over: micro-batches differ by a row, and losses divide by what there is.
TEST(Accumulate, CutsWhatIsLeftOver) {
  const std::string text =
      model(kRow, R"({"name": "d", "op": "dropout", "in": "x", "rate": 0.4}, {"name": "y", "op": "dense", "units": 3})",
            R"(, "train": {"batch": {"N": 8}, "accumulate": PARTS,
      "loss": {"op": "cross_entropy", "in": ["y", "t"], "weights": "w"}, "metrics": [{"op": "accuracy", "in": ["y", "t"]}],
      "optimizer": {"op": "sgd", "lr": 0.5}})");
  const auto state_of = [&](int parts, int64_t left) {
    Sources sources;
    const Model m = read_model(sources, sources.add("m.json", with_parts(text, parts)), {});
    BuildOptions options = default_build_options(m);
    options.train_last = left;
    ir::Module module = build_module(m, options);
    passes::find_pass("differentiate")->run(module, {});
    const ir::Graph &init = *module.find_graph("init"), &last = *module.find_graph("train_last");
    ir::NamedTensors all;
    for (const ir::ValueId v : init.inputs) all[init[v].name] = ir::Tensor(init[v].type);
    all = ir::evaluate(module, init, all).updated;
    all["x"] = reals({left, 5});
    all["t"] = numbers({left}, [](int64_t i) { return i == 1 ? -100 : static_cast<double>(i % 3); });
    all["w"] = tensor({ir::DType::f32, {left}}, [](int64_t i) { return 1 + 0.25 * static_cast<double>(i); });
    return ir::evaluate(module, last, all).updated;
  };
  for (const int64_t left : {1, 3, 5, 7})
    for (const int parts : {2, 4, 8}) {
      const ir::NamedTensors whole = state_of(1, left), apart = state_of(parts, left);
      for (const auto& [name, value] : whole)
        expect_near(apart.at(name), value, fmt::format("{} of {} rows in {}", name, left, parts));
    }
}

// Up to 16 gradients are added in f32, more in f64.
TEST(Accumulate, SumsOfManyAreWide) {
  const auto type_of_sum = [](int rows) {
    const std::string text = model(
        R"("x": {"shape": ["N", 3]}, "t": {"shape": ["N", 2]})",
        R"({"name": "y", "op": "dense", "in": "x", "units": 2})",
        fmt::format(R"(, "train": {{"batch": {{"N": {0}}}, "accumulate": {0}, "loss": {{"op": "mse", "in": ["y", "t"]}},
                          "optimizer": "sgd"}})",
                    rows));
    const auto built = build(text);
    for (const ir::Graph& body : built->module.bodies)
      if (const ir::ValueId sum = body.find("y.weight.grad.so_far"); sum.valid()) return body[sum].type.dtype;
    return ir::DType::boolean;
  };
  EXPECT_EQ(type_of_sum(16), ir::DType::f32);
  EXPECT_EQ(type_of_sum(17), ir::DType::f64);
}

TEST(Accumulate, MicroBatchesDifferByOneRow) {
  for (int64_t batch = 1; batch < 40; ++batch)
    for (int64_t rows = 1; rows < 12; ++rows) {
      int64_t all = 0, turns = 0, least = batch, most = 0;
      for (const MicroBatches& part : micro_batches(batch, rows)) {
        all += part.rows * part.turns, turns += part.turns;
        least = std::min(least, part.rows), most = std::max(most, part.rows);
      }
      EXPECT_EQ(all, batch);
      EXPECT_EQ(turns, (batch + rows - 1) / rows);
      EXPECT_LE(most, rows);
      EXPECT_LE(most - least, 1);
    }
}

}  // namespace
}  // namespace heddle::frontend
