// The frontend from text to numbers: models are built, differentiated and evaluated in double precision.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <map>

#include "frontend/training/training_plan.h"
#include "ir/text/parse.h"
#include "ir/text/print.h"
#include "ir/verify/verify.h"
#include "tests/support/source_dir.h"
#include "tests/unit/built_model.h"

namespace heddle::frontend {
namespace {

using ir::NamedTensors;
using ir::Tensor;

std::vector<std::string> inputs_of(const ir::Graph& g, ir::Role role) {
  std::vector<std::string> names;
  for (const ir::ValueId v : g.inputs) {
    if (g[v].role == role) names.push_back(g[v].name);
  }
  return names;
}

// --- Blocks and parameters

const char* const kBlocks = R"(, "outputs": {"y": "tied"}, "blocks": {
  "layer": {"inputs": ["v"], "nodes": [{"name": "fc", "op": "dense", "units": "d"}], "output": "fc"},
  "pair": {"inputs": ["v"], "let": {"d": 4}, "nodes": [{"name": "a", "op": "block:layer", "with": {"d": "d"}}], "output": "a"}})";

// The index is in the path exactly where `repeat` is written.
TEST(Model, ParameterPathsOfBlocks) {
  const auto built =
      build(model(R"("x": {"shape": ["N", 4], "dtype": "f32"})",
                  R"({"name": "h", "op": "block:pair", "repeat": 2}, {"name": "once", "op": "block:pair"},
                                    {"name": "tied", "op": "matmul", "in": ["once", "h.1.a.fc.weight"], "transpose_b": true})",
                  kBlocks));
  const std::vector<std::string> expected = {"h.0.a.fc.weight", "h.0.a.fc.bias",    "h.1.a.fc.weight",
                                             "h.1.a.fc.bias",   "once.a.fc.weight", "once.a.fc.bias"};
  EXPECT_EQ(inputs_of(*built->module.find_graph("predict"), ir::Role::param), expected);
  EXPECT_EQ(inputs_of(*built->module.find_graph("init"), ir::Role::param), expected);
}

// Without a batch in the file, one row; only what the outputs need is in @predict.
TEST(Model, PredictHoldsAncestorsOnly) {
  const auto built = build(model(
      R"("x": {"shape": ["N", 4], "dtype": "f32"}, "z": {"shape": ["N", 4], "dtype": "f32"})",
      R"({"name": "a", "op": "dense", "in": "x", "units": 2}, {"name": "b", "op": "dense", "in": "z", "units": 2})",
      R"(, "outputs": {"result": "a"})"));
  const ir::Graph& g = *built->module.find_graph("predict");
  EXPECT_EQ(inputs_of(g, ir::Role::input), std::vector<std::string>{"x"});
  EXPECT_EQ(inputs_of(g, ir::Role::param), (std::vector<std::string>{"a.weight", "a.bias"}));
  ASSERT_EQ(g.outputs.size(), 1U);
  EXPECT_EQ(g[g.outputs[0]].name, "result");
  EXPECT_EQ(g[g.outputs[0]].type, (ir::Type{ir::DType::f32, {1, 2}}));
}

// A parameter's first numbers depend on the seed and its path alone.
TEST(Model, InitialisationIsKeyedByPath) {
  const std::string inputs = R"("x": {"shape": ["N", 4], "dtype": "f32"})";
  const std::string train =
      R"(, "train": {"batch": {"N": 2}, "seed": 3, "loss": {"op": "mse", "in": ["y", "y"]}, "optimizer": "sgd"})";
  const Training small(model(inputs, R"({"name": "y", "op": "dense", "units": 64})", train));
  const Training large(model(
      inputs, R"({"name": "first", "op": "dense", "units": 4}, {"name": "y", "op": "dense", "units": 64})", train));
  EXPECT_EQ(small.states.at("y.weight").real, large.states.at("y.weight").real);
  EXPECT_EQ(large.states.at("seed").integer, std::vector<int64_t>{3});
  const double limit = std::sqrt(6.0 / (4 + 64));  // glorot_uniform
  double sum = 0, squares = 0;
  for (const double w : small.states.at("y.weight").real) {
    EXPECT_LE(std::abs(w), limit);
    sum += w;
    squares += w * w;
  }
  EXPECT_NEAR(sum / 256, 0, limit / 8);                               // 256 draws: four standard errors of the mean
  EXPECT_NEAR(squares / 256, limit * limit / 3, limit * limit / 12);  // the variance of a uniform distribution
  for (const double b : small.states.at("y.bias").real) EXPECT_EQ(b, 0);
}

// --- Measures

void set_totals(NamedTensors& values, const std::vector<std::string>& metrics, double to) {
  for (const std::string& metric : metrics)
    for (const char* state : {".total", ".counted"}) {
      Tensor& total = values[metric + state] = Tensor({ir::DType::f64, {}});
      total.real = {to};
    }
}

// Labels of -100 count neither in the loss nor in the accuracy.
TEST(Model, MeasuresAreTotals) {
  const auto built =
      build(model(R"("logits": {"shape": ["N", 3], "dtype": "f32"}, "label": {"shape": ["N"], "dtype": "i32"})",
                  R"({"name": "y", "op": "dense", "in": "logits", "units": 3, "bias": false})",
                  R"(, "train": {"batch": {"N": 4}, "loss": {"op": "cross_entropy", "in": ["y", "label"]},
                                      "metrics": [{"op": "accuracy", "in": ["y", "label"]}, {"op": "perplexity", "in": ["y", "label"]}]})"));
  const ir::Graph& g = *built->module.find_graph("eval");
  NamedTensors values;
  values["logits"] = tensor({ir::DType::f32, {4, 3}},
                            [](int64_t i) { return i % 3 == i / 3 % 3 ? 2.0 : 0.0; });  // rows favour 0, 1, 2, 0
  values["label"] = Tensor({ir::DType::i32, {4}});
  values["label"].integer = {0, 2, -100, 0};
  values["y.weight"] = tensor({ir::DType::f32, {3, 3}}, [](int64_t i) { return i % 4 == 0 ? 1.0 : 0.0; });
  set_totals(values, {"loss", "accuracy", "perplexity"}, 0);
  values["loss.total"].real = {100};
  const ir::Evaluation ran = ir::evaluate(built->module, g, values);
  const double normaliser = std::log(std::exp(2.0) + 2);
  const double sum = 2 * (normaliser - 2) + normaliser;
  ASSERT_EQ(ran.outputs.size(), 2U);  // loss, loss.count
  EXPECT_NEAR(ran.outputs[0].at(0), sum / 3, 1e-12);
  EXPECT_EQ(ran.outputs[1].at(0), 3);
  const std::map<std::string, double> expected = {{"loss.total", 100 + sum}, {"loss.counted", 3},
                                                  {"accuracy.total", 2},     {"accuracy.counted", 3},
                                                  {"perplexity.total", sum}, {"perplexity.counted", 3}};
  for (const auto& [name, value] : expected) EXPECT_NEAR(ran.updated.at(name).at(0), value, 1e-12) << name;
  const TrainingPlan plan = plan_training(built->model);
  ASSERT_EQ(plan.metrics.size(), 3U);
  EXPECT_EQ(plan.metrics[2].name, "perplexity");
  EXPECT_EQ(plan.inputs[1].below, 3);
  EXPECT_EQ(plan.inputs[0].below, -1);
}

// What each metric adds up, and what becomes of the ratio.
TEST(Model, MetricsOfValues) {
  const auto built = build(model(
      R"("x": {"shape": ["N", 2], "dtype": "f32"}, "t": {"shape": ["N", 2], "dtype": "f32"})",
      R"({"name": "y", "op": "dense", "in": "x", "units": 2, "bias": false})",
      R"(, "train": {"batch": {"N": 2}, "loss": {"op": "mse", "in": ["y", "t"]}, "metrics": [{"op": "mse", "in": ["y", "t"]},
          {"op": "rmse", "in": ["y", "t"]}, {"op": "mae", "in": ["y", "t"]}]})"));
  const ir::Graph& g = *built->module.find_graph("eval");
  NamedTensors values;
  values["x"] = tensor({ir::DType::f32, {2, 2}}, [](int64_t i) { return static_cast<double>(i); });
  values["t"] = tensor({ir::DType::f32, {2, 2}}, [](int64_t i) { return i == 0 ? 3.0 : 1.0; });
  values["y.weight"] = tensor({ir::DType::f32, {2, 2}}, [](int64_t i) { return i % 3 == 0 ? 1.0 : 0.0; });
  set_totals(values, {"loss", "mse", "rmse", "mae"}, 0);
  // Differences -3, 0, 1, 2.
  const ir::Evaluation ran = ir::evaluate(built->module, g, values);
  ASSERT_EQ(ran.outputs.size(), 1U);  // the loss: how much counts does not depend on the data
  EXPECT_NEAR(ran.outputs[0].at(0), 3.5, 1e-12);
  const std::vector<Tensor> metrics =
      ir::evaluate(built->module, *built->module.find_graph("metrics"), ran.updated).outputs;
  const std::vector<double> expected = {3.5, 3.5, std::sqrt(3.5), 1.5};  // loss, mse, rmse, mae
  ASSERT_EQ(metrics.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(metrics[i].at(0), expected[i], 1e-12) << i;
  const NamedTensors zero = ir::evaluate(built->module, *built->module.find_graph("reset"), ran.updated).updated;
  for (const char* name : {"loss.total", "loss.counted", "mse.total", "rmse.total", "mae.total", "mae.counted"})
    EXPECT_EQ(zero.at(name).at(0), 0) << name;
}

// A batch in which no label counts has a mean of 0 / 0 and adds nothing to the totals.
TEST(Model, NothingCountedAddsNothing) {
  const auto built =
      build(model(R"("logits": {"shape": ["N", 3], "dtype": "f32"}, "label": {"shape": ["N"], "dtype": "i32"})",
                  R"({"name": "y", "op": "dense", "in": "logits", "units": 3, "bias": false})",
                  R"(, "train": {"batch": {"N": 2}, "loss": {"op": "cross_entropy", "in": ["y", "label"]},
                                      "metrics": [{"op": "perplexity", "in": ["y", "label"]}]})"));
  NamedTensors values;
  values["logits"] = tensor({ir::DType::f32, {2, 3}}, [](int64_t i) { return static_cast<double>(i); });
  values["label"] = Tensor({ir::DType::i32, {2}});
  values["label"].integer = {-100, -100};
  values["y.weight"] = tensor({ir::DType::f32, {3, 3}}, [](int64_t i) { return static_cast<double>(i); });
  set_totals(values, {"loss", "perplexity"}, 5);
  const ir::Evaluation ran = ir::evaluate(built->module, *built->module.find_graph("eval"), values);
  EXPECT_EQ(ran.outputs.at(1).at(0), 0);  // loss.count
  for (const char* name : {"loss.total", "loss.counted", "perplexity.total", "perplexity.counted"})
    EXPECT_EQ(ran.updated.at(name).at(0), 5) << name;
}

TEST(Model, ThePlanSaysHowLongAndOfWhat) {
  const auto built =
      build(model(R"("x": {"shape": ["N", 2], "dtype": "f32"})", R"({"name": "y", "op": "dense", "units": 2})",
                  R"(, "train": {"batch": {"N": 4}, "epochs": 3, "steps": 7, "seed": 5, "drop_last": true,
                                     "loss": {"op": "mse", "in": ["y", "y"]}, "optimizer": "sgd"})"));
  const TrainingPlan plan = plan_training(built->model);
  EXPECT_EQ(plan.batch, 4);
  EXPECT_EQ(plan.epochs, 3);
  EXPECT_EQ(plan.steps, 7);
  EXPECT_EQ(plan.seed, 5);
  EXPECT_TRUE(plan.drop_last);
  ASSERT_EQ(plan.inputs.size(), 1U);
  EXPECT_EQ(plan.inputs[0].row, (ir::Type{ir::DType::f32, {2}}));
}

// --- Files

TEST(Model, OverridesComeLast) {
  const std::string text =
      model(R"("x": {"shape": ["N", "d"], "dtype": "f32"})", R"({"name": "y", "op": "dense", "units": "d"})",
            R"(, "let": {"d": 8}, "outputs": {"y": "y"}, "small": {"let.d": 4})");
  const auto width = [&](const ReadOptions& options) {
    return std::get<int64_t>(build(text, options)->model.let.names.at("d"));
  };
  EXPECT_EQ(width({}), 8);
  EXPECT_EQ(width({.set = {}, .small = true}), 4);
  EXPECT_EQ(width({.set = {"let.d=2"}, .small = true}), 2);
  EXPECT_EQ(build(text, {.set = {"nodes.y.units=3", "outputs=null"}})->model.outputs.size(), 0U);
}

// Every model of the repository builds, as it is and small; its text reads back equal.
TEST(Model, RepositoryModels) {
  const std::filesystem::path folder = testing::source_dir() / "models";
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".json") continue;
    ++count;
    for (const bool small : {false, true}) {
      Sources sources;
      const Model m = read_model(sources, entry.path().string(), {.set = {}, .small = small});
      BuildOptions options = default_build_options(m);
      options.train_last = options.eval_last = 3;
      const ir::Module module = build_module(m, options);
      EXPECT_EQ(ir::verify(module), std::vector<std::string>{}) << entry.path();
      EXPECT_EQ(module.graphs.size(), 8U);
      const SourceFile text{"m.hir", ir::print(module)};
      EXPECT_TRUE(ir::structurally_equal(ir::parse(text), module)) << entry.path();
    }
  }
  EXPECT_GE(count, 5);
}

}  // namespace
}  // namespace heddle::frontend
