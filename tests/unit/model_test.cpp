// The frontend from text to numbers: models are built, differentiated and evaluated in double precision.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <memory>
#include <numeric>

#include "frontend/build_graph.h"
#include "frontend/read_model.h"
#include "frontend/training_plan.h"
#include "ir/evaluate.h"
#include "ir/op_def.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "passes/pipeline.h"

namespace heddle::frontend {
namespace {

using ir::NamedTensors;
using ir::Tensor;

struct Built {
  Sources sources;
  Model model;
  ir::Module module;
};

std::unique_ptr<Built> build(const std::string& text, const ReadOptions& read = {}) {
  auto built = std::make_unique<Built>();
  built->model = read_model(built->sources, built->sources.add("m.json", text), read);
  built->module = build_module(built->model, default_build_options(built->model));
  EXPECT_EQ(ir::verify(built->module), std::vector<std::string>{});
  return built;
}

// A model around `inputs`, `nodes` and more top-level members.
std::string model(const std::string& inputs, const std::string& nodes, const std::string& rest = "") {
  return fmt::format(R"({{"format": "heddle-model/1", "name": "m", "inputs": {{{}}}, "nodes": [{}]{}}})", inputs, nodes,
                     rest);
}

std::vector<std::string> inputs_of(const ir::Graph& g, ir::Role role) {
  std::vector<std::string> names;
  for (const ir::ValueId v : g.inputs) {
    if (g[v].role == role) names.push_back(g[v].name);
  }
  return names;
}

Tensor tensor(const ir::Type& type, const std::function<double(int64_t)>& f) {
  Tensor t(type);
  for (int64_t i = 0; i < t.elements(); ++i) t.set(i, f(i));
  return t;
}

// Trains in double precision: states from @init, then @train as often as asked.
class Training {
 public:
  explicit Training(const std::string& text) : built_(build(text)) {
    passes::find_pass("differentiate")->run(built_->module, {});
    const ir::Graph& init = *built_->module.find_graph("init");
    NamedTensors zeros;
    for (const ir::ValueId v : init.inputs) zeros[init[v].name] = Tensor(init[v].type);
    states = ir::evaluate(built_->module, init, zeros).updated;
  }

  ir::Evaluation step(const NamedTensors& inputs) {
    const ir::Graph& g = *built_->module.find_graph("train");
    NamedTensors all = inputs;
    for (const ir::ValueId v : g.inputs) {
      if (g[v].role != ir::Role::input) all[g[v].name] = states.at(g[v].name);
    }
    ir::Evaluation result = ir::evaluate(built_->module, g, all);
    for (const auto& [name, value] : result.updated) states[name] = value;
    return result;
  }

  NamedTensors states;

 private:
  std::unique_ptr<Built> built_;
};

// --- Blocks and parameters
// --------------------------------------------------------------------------------------------------

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

// --- Layers
// -----------------------------------------------------------------------------------------------------------------

std::vector<double> predict(const std::string& text, const NamedTensors& values) {
  const auto built = build(text);
  const ir::Graph& g = *built->module.find_graph("predict");
  NamedTensors all;
  for (const ir::ValueId v : g.inputs) all[g[v].name] = values.at(g[v].name);
  return ir::evaluate(built->module, g, all).outputs.at(0).real;
}

double wave(int64_t i) { return std::sin(0.7 * static_cast<double>(i) + 0.3); }

// The same image and weights give the same result in either layout.
TEST(Model, LayoutsAgree) {
  const std::string nodes =
      R"({"name": "c", "op": "conv2d", "filters": 3, "kernel": 3, "stride": 2, "pad": "same", "activation": "relu"},
                               {"name": "p", "op": "avg_pool2d", "window": 2}, {"name": "y", "op": "global_avg_pool"})";
  const ir::Type nhwc{ir::DType::f32, {1, 8, 8, 2}}, nchw{ir::DType::f32, {1, 2, 8, 8}};
  NamedTensors values;
  values["c.weight"] = tensor({ir::DType::f32, {3, 2, 3, 3}}, wave);
  values["c.bias"] = tensor({ir::DType::f32, {3}}, wave);
  values["x"] = tensor(nhwc, wave);
  const std::vector<double> last =
      predict(model(R"("x": {"shape": ["N", 8, 8, 2], "dtype": "f32"})", nodes, R"(, "outputs": {"y": "y"})"), values);
  values["x"] = tensor(nchw, [](int64_t i) { return wave(i % 64 * 2 + i / 64); });
  const std::vector<double> first = predict(
      model(R"("x": {"shape": ["N", 2, 8, 8], "dtype": "f32"})", nodes, R"(, "layout": "NCHW", "outputs": {"y": "y"})"),
      values);
  ASSERT_EQ(last.size(), 3U);
  for (size_t i = 0; i < 3; ++i) EXPECT_NEAR(last[i], first[i], 1e-12);
  EXPECT_GT(std::abs(last[0]), 1e-3);
}

ir::Dims pads_of(const std::string& settings) {
  const auto built =
      build(model(R"("x": {"shape": ["N", 7, 10, 1], "dtype": "f32"})",
                  R"({"name": "c", "op": "conv2d", "filters": 1, )" + settings + "}", R"(, "outputs": {"c": "c"})"));
  const ir::Graph& g = *built->module.find_graph("predict");
  const ir::Node& conv = *g.def(g.find("c.conv"));
  return ir::signature(g, conv).integers("pads");  // top, left, bottom, right
}

TEST(Model, Padding) {
  EXPECT_EQ(pads_of(R"("kernel": 3)"), (ir::Dims{0, 0, 0, 0}));
  EXPECT_EQ(pads_of(R"("kernel": 3, "pad": "same")"), (ir::Dims{1, 1, 1, 1}));
  // Height 7, stride 2: 4 rows reach (4 - 1) * 2 + 4 = 10, so 3 in all, 1 before. Width 10: 5 columns reach 12, so 2.
  EXPECT_EQ(pads_of(R"("kernel": 4, "stride": 2, "pad": "same")"), (ir::Dims{1, 1, 2, 1}));
  // A dilated kernel of 3 reaches 5.
  EXPECT_EQ(pads_of(R"("kernel": 3, "dilation": 2, "pad": "same")"), (ir::Dims{2, 2, 2, 2}));
  EXPECT_EQ(pads_of(R"("kernel": 3, "pad": 2)"), (ir::Dims{2, 2, 2, 2}));
  EXPECT_EQ(pads_of(R"("kernel": 3, "pad": [1, 2])"), (ir::Dims{1, 2, 1, 2}));
  EXPECT_EQ(pads_of(R"("kernel": 3, "pad": [1, 2, 3, 4])"), (ir::Dims{1, 3, 2, 4}));
}

TEST(Model, ArithmeticBroadcasts) {
  NamedTensors values;
  values["x"] = tensor({ir::DType::f32, {1, 2, 3}}, [](int64_t i) { return static_cast<double>(i); });
  values["w"] = tensor({ir::DType::f32, {2, 1}}, [](int64_t i) { return static_cast<double>(i + 1); });
  const std::string nodes =
      R"({"name": "w", "op": "param", "shape": [2, 1]}, {"name": "p", "op": "mul", "in": ["x", "w"]},
                               {"name": "q", "op": "sub", "in": [10, "p"]}, {"name": "m", "op": "max", "in": ["q", 7]},
                               {"name": "y", "op": "sum", "axis": [0, -1]})";
  const std::string inputs = R"("x": {"shape": ["N", 2, 3], "dtype": "f32"})";
  // p = [0 1 2], [6 8 10]; q = [10 9 8], [4 2 0]; m = [10 9 8], [7 7 7]
  EXPECT_EQ(predict(model(inputs, nodes, R"(, "outputs": {"y": "y"})"), values), (std::vector<double>{27, 21}));
}

TEST(Model, SplitAndConcat) {
  NamedTensors values;
  values["x"] = tensor({ir::DType::f32, {1, 6}}, [](int64_t i) { return static_cast<double>(i); });
  const std::string nodes =
      R"({"op": "split", "parts": [1, 2, 3], "out": ["a", "b", "c"]}, {"name": "y", "op": "concat", "in": ["c", "a", "b"]},
                               {"name": "z", "op": "slice", "start": 1, "stop": -1, "step": 2})";
  const std::string inputs = R"("x": {"shape": ["N", 6], "dtype": "f32"})";
  EXPECT_EQ(predict(model(inputs, nodes, R"(, "outputs": {"y": "y"})"), values),
            (std::vector<double>{3, 4, 5, 0, 1, 2}));
  EXPECT_EQ(predict(model(inputs, nodes, R"(, "outputs": {"z": "z"})"), values), (std::vector<double>{4, 0}));
}

// --- Optimizers, against the formulas of torch.optim written out
// -------------------------------------------------------------

// loss = mean((x w - t)^2) with one weight for each of 3 columns and 2 rows: the gradient is known.
struct Problem {
  std::vector<double> w = {0.5, -1.0, 2.0};
  NamedTensors inputs = {{"x", tensor({ir::DType::f32, {2, 3}}, wave)},
                         {"t", tensor({ir::DType::f32, {2, 3}}, [](int64_t i) { return wave(i + 9); })}};

  std::vector<double> gradient() const {
    std::vector<double> g(3, 0);
    for (size_t i = 0; i < 6; ++i) {
      const double x = inputs.at("x").real[i], t = inputs.at("t").real[i];
      g[i % 3] += 2.0 / 6 * (x * w[i % 3] - t) * x;
    }
    return g;
  }
};

std::string problem_model(const std::string& train) {
  return model(R"("x": {"shape": ["N", 3], "dtype": "f32"}, "t": {"shape": ["N", 3], "dtype": "f32"})",
               R"({"name": "w", "op": "param", "shape": [3]}, {"name": "y", "op": "mul", "in": ["x", "w"]})",
               R"(, "train": {"batch": {"N": 2}, "loss": {"op": "mse", "in": ["y", "t"]}, )" + train + "}");
}

// Runs 6 steps of the model and of `update(w, gradient, step)`; they agree.
void follow(const std::string& train,
            const std::function<void(std::vector<double>&, std::vector<double>, int)>& update) {
  Problem problem;
  Training training(problem_model(train));
  training.states["w"].real = problem.w;
  for (int step = 0; step < 6; ++step) {
    training.step(problem.inputs);
    update(problem.w, problem.gradient(), step);
    for (size_t i = 0; i < 3; ++i)
      EXPECT_NEAR(training.states["w"].real[i], problem.w[i], 1e-12) << train << " step " << step;
  }
  EXPECT_EQ(training.states["step"].integer, std::vector<int64_t>{6});
}

TEST(Optimizer, Sgd) {
  follow(R"("optimizer": {"op": "sgd", "lr": 0.1, "weight_decay": 0.2})", [](auto& w, auto g, int) {
    for (size_t i = 0; i < 3; ++i) w[i] -= 0.1 * (g[i] + 0.2 * w[i]);
  });
}

TEST(Optimizer, SgdMomentum) {
  for (const bool nesterov : {false, true}) {
    std::vector<double> v(3, 0);
    follow(
        fmt::format(R"("optimizer": {{"op": "sgd", "lr": 0.1, "momentum": 0.9, "nesterov": {}, "weight_decay": 0.01}})",
                    nesterov),
        [&](auto& w, auto g, int) {
          for (size_t i = 0; i < 3; ++i) {
            g[i] += 0.01 * w[i];
            v[i] = 0.9 * v[i] + g[i];
            w[i] -= 0.1 * (nesterov ? g[i] + 0.9 * v[i] : v[i]);
          }
        });
  }
}

TEST(Optimizer, Adam) {
  for (const std::string op : {"adam", "adamw"}) {
    std::vector<double> m(3, 0), v(3, 0);
    follow(
        fmt::format(
            R"("optimizer": {{"op": "{}", "lr": 0.05, "betas": [0.8, 0.95], "eps": 1e-3, "weight_decay": 0.1}})", op),
        [&](auto& w, auto g, int step) {
          for (size_t i = 0; i < 3; ++i) {
            if (op == "adam") g[i] += 0.1 * w[i];
            if (op == "adamw") w[i] *= 1 - 0.05 * 0.1;
            m[i] = 0.8 * m[i] + 0.2 * g[i];
            v[i] = 0.95 * v[i] + 0.05 * g[i] * g[i];
            const double c1 = 1 - std::pow(0.8, step + 1), c2 = 1 - std::pow(0.95, step + 1);
            w[i] -= 0.05 / c1 * m[i] / (std::sqrt(v[i]) / std::sqrt(c2) + 1e-3);
          }
        });
  }
}

TEST(Optimizer, ClipsTheGlobalNorm) {
  follow(R"("clip_norm": 0.05, "optimizer": {"op": "sgd", "lr": 0.1})", [](auto& w, auto g, int) {
    const double norm = std::sqrt(std::inner_product(g.begin(), g.end(), g.begin(), 0.0));
    EXPECT_GT(norm, 0.05);  // or the test would not see the clipping
    for (size_t i = 0; i < 3; ++i) w[i] -= 0.1 * g[i] * std::min(1.0, 0.05 / (norm + 1e-6));
  });
  follow(R"("clip_norm": 100, "optimizer": {"op": "sgd", "lr": 0.1})", [](auto& w, auto g, int) {
    for (size_t i = 0; i < 3; ++i) w[i] -= 0.1 * g[i];
  });
}

TEST(Optimizer, Cosine) {
  follow(R"("steps": 5, "optimizer": {"op": "sgd", "lr": {"op": "cosine", "peak": 0.2, "min": 0.02, "warmup": 2}})",
         [](auto& w, auto g, int step) {
           const double t = std::min(1.0, (step - 2) / 3.0);  // 5 steps, 2 of them warm-up
           const double lr =
               step < 2 ? 0.2 * (step + 1) / 3 : 0.02 + 0.18 * 0.5 * (1 + std::cos(3.141592653589793 * t));
           for (size_t i = 0; i < 3; ++i) w[i] -= lr * g[i];
         });
}

TEST(Optimizer, ConstantWithWarmup) {
  follow(R"("optimizer": {"op": "sgd", "lr": {"op": "constant", "value": 0.2, "warmup": 3}})",
         [](auto& w, auto g, int step) {
           for (size_t i = 0; i < 3; ++i) w[i] -= (step < 3 ? 0.2 * (step + 1) / 4 : 0.2) * g[i];
         });
}

// "matrices" spares biases; frozen parameters have no update at all.
TEST(Optimizer, DecayOfMatricesAndFreezing) {
  const std::string inputs = R"("x": {"shape": ["N", 2], "dtype": "f32"}, "t": {"shape": ["N", 2], "dtype": "f32"})";
  const std::string nodes = R"({"name": "a", "op": "dense", "in": "x", "units": 2, "bias_init": "ones"},
                               {"name": "y", "op": "dense", "units": 2, "bias_init": "ones"})";
  Training training(
      model(inputs, nodes, R"(, "train": {"batch": {"N": 1}, "freeze": ["a.*"], "loss": {"op": "mse", "in": ["y", "y"]},
                                             "optimizer": {"op": "sgd", "lr": 0.5, "weight_decay": 0.1, "decay": "matrices"}})"));
  const std::vector<double> before = training.states["y.weight"].real, frozen = training.states["a.weight"].real;
  NamedTensors x;
  x["x"] = tensor({ir::DType::f32, {1, 2}}, wave);
  training.step(x);  // mse of y and y: no gradient, decay alone
  EXPECT_EQ(training.states["a.weight"].real, frozen);
  for (size_t i = 0; i < before.size(); ++i)
    EXPECT_NEAR(training.states["y.weight"].real[i], before[i] * (1 - 0.5 * 0.1), 1e-15);
  EXPECT_EQ(training.states["y.bias"].real, (std::vector<double>{1, 1}));
}

// --- Measures
// ---------------------------------------------------------------------------------------------------------------

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
  const std::vector<Tensor> out = ir::evaluate(built->module, g, values).outputs;
  const double normaliser = std::log(std::exp(2.0) + 2);
  const double sum = 2 * (normaliser - 2) + normaliser;
  ASSERT_EQ(out.size(), 7U);  // loss, loss.sum, loss.count, two metrics
  const std::vector<double> expected = {sum / 3, sum, 3, 2, 3, sum, 3};
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(out[i].at(0), expected[i], 1e-12) << i;
  const TrainingPlan plan = plan_training(built->model);
  ASSERT_EQ(plan.metrics.size(), 3U);
  EXPECT_EQ(plan.metrics[1].numerator, g[g.outputs[3]].name);
  EXPECT_EQ(plan.metrics[2].denominator, g[g.outputs[6]].name);
  EXPECT_EQ(plan.metrics[2].finish, Finish::exp_ratio);
  EXPECT_EQ(plan.inputs[1].below, 3);
  EXPECT_EQ(plan.inputs[0].below, -1);
}

// --- Files
// ------------------------------------------------------------------------------------------------------------------

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
  const std::filesystem::path folder = std::filesystem::path(HEDDLE_SOURCE_DIR) / "models";
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
      EXPECT_EQ(module.graphs.size(), 6U);
      const SourceFile text{"m.hir", ir::print(module)};
      EXPECT_TRUE(ir::structurally_equal(ir::parse(text), module)) << entry.path();
    }
  }
  EXPECT_GE(count, 5);
}

}  // namespace
}  // namespace heddle::frontend
