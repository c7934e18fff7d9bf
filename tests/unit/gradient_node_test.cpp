// The node `gradient`: its values against formulas, gradients that go through it against central differences in double
// precision, and which values have rows of their own.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "passes/pipeline.h"
#include "tests/unit/built_model.h"

namespace heddle::frontend {
namespace {

constexpr int64_t kRows = 4;

ir::NamedTensors inputs_of(const ir::Graph& g) {
  ir::NamedTensors in;
  for (const ir::ValueId v : g.inputs)
    if (g[v].role == ir::Role::input)
      in[g[v].name] =
          tensor(g[v].type, [&](int64_t i) { return is_floating(g[v].type.dtype) ? wave(i) : double(i % 3); });
  return in;
}

std::string trained(const std::string& nodes, const std::string& rest = "") {
  return model(
      R"("x": {"shape": ["N", 3]}, "seq": {"shape": ["N", 5, 2]}, "image": {"shape": ["N", 4, 4, 2]}, "ids": {"shape": ["N"], "dtype": "i32"})",
      nodes,
      fmt::format(
          R"(, "train": {{"batch": {{"N": {}}}, "steps": 1, "seed": 3, "loss": {{"op": "value", "in": "end"}}, "optimizer": {{"op": "sgd", "lr": 1}}}}{})",
          kRows, rest));
}

// The results of @predict.
ir::Evaluation predicted(Built& built, const ir::NamedTensors& in) {
  passes::find_pass("differentiate")->run(built.module, {});
  return ir::evaluate(built.module, *built.module.find_graph("predict"), in);
}

// The loss of the model where one element of a parameter is moved.
double moved_loss(const std::string& text, const ir::NamedTensors& states, const ir::NamedTensors& in,
                  const std::string& name, size_t i, double by) {
  Training t(text);
  t.states = states;
  t.states[name].real[i] += by;
  return t.step(in).outputs[0].at(0);
}

// Steps of gradient descent with a rate of 1: the gradients are what the parameters lose. A few elements of each.
void expect_central_differences(const std::string& nodes, const std::string& rest = "") {
  const std::string text = trained(nodes, rest);
  const auto built = build(text);
  const ir::Graph& train = *built->module.find_graph("train");
  const ir::NamedTensors in = inputs_of(train);
  Training training(text);
  const ir::NamedTensors before = training.states;
  training.step(in);
  size_t compared = 0;
  for (const ir::ValueId v : train.inputs) {
    if (train[v].role != ir::Role::param) continue;
    const std::string name = train[v].name;
    const size_t count = before.at(name).real.size();
    for (size_t i = 0; i < count; i += 1 + count / 3) {
      constexpr double kStep = 1e-3;
      const auto at = [&](double t) { return moved_loss(text, before, in, name, i, t * kStep); };
      const double expected = (8 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12 * kStep);
      const double got = before.at(name).real[i] - training.states.at(name).real[i];
      EXPECT_NEAR(expected, got, 1e-7 * (1 + std::abs(expected))) << nodes << "\n" << name << "[" << i << "]";
      ++compared;
    }
  }
  EXPECT_GT(compared, 0U) << nodes;
}

const std::string kNet =
    R"({"name": "h", "op": "dense", "in": "x", "units": 4, "activation": "tanh"}, {"name": "u", "op": "dense", "units": 1}, )";

TEST(GradientNode, OfAColumnIsThatOfEachRow) {
  const std::string text = model(R"("x": {"shape": ["N", 1]})",
                                 R"({"name": "a", "op": "mul", "in": ["x", 3]}, {"name": "u", "op": "sin"},
               {"name": "u_x", "op": "gradient", "in": ["u", "x"]}, {"name": "u_xx", "op": "gradient", "in": ["u_x", "x"]})",
                                 R"(, "outputs": {"y": "u_xx", "z": "u_x"}, "train": {"batch": {"N": 4}})");
  const ir::Tensor x = tensor({ir::DType::f32, {4, 1}}, wave);
  const std::vector<double> got = predicted(*build(text), {{"x", x}}).outputs[0].real;
  ASSERT_EQ(got.size(), 4U);
  for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(got[i], -9 * std::sin(3 * x.real[i]), 1e-12);
}

// Outputs keep their names where gradients are one value, an input or a constant.
TEST(GradientNode, ResultsOfThePredictionAreNamed) {
  const auto built =
      build(model(R"("x": {"shape": ["N", 2]}, "y": {"shape": ["N", 2]})",
                  R"({"name": "p", "op": "mul", "in": ["x", "y"]}, {"name": "u", "op": "sum", "axis": 1},
                     {"name": "a", "op": "gradient", "in": ["u", "x"]}, {"name": "b", "op": "gradient", "in": ["u", "p"]},
                     {"name": "q", "op": "add", "in": ["x", "y"]}, {"name": "v", "op": "sum", "axis": 1},
                     {"name": "c", "op": "gradient", "in": ["v", "x"]}, {"name": "d", "op": "gradient", "in": ["v", "y"]})",
                  R"(, "outputs": {"a": "a", "b": "b", "c": "c", "d": "d"}, "train": {"batch": {"N": 3}})"));
  const ir::Graph& g = *built->module.find_graph("predict");
  const ir::NamedTensors in = inputs_of(g);
  const ir::Evaluation e = predicted(*built, in);
  ASSERT_EQ(e.outputs.size(), 4U);
  for (size_t k = 0; k < 4; ++k) EXPECT_EQ(g[g.outputs[k]].name, std::string(1, static_cast<char>('a' + k)));
  EXPECT_EQ(e.outputs[0].real, in.at("y").real);
  for (size_t k = 1; k < 4; ++k) EXPECT_EQ(e.outputs[k].real, std::vector<double>(6, 1));
}

TEST(GradientNode, SecondOrderTrains) {
  expect_central_differences(kNet + R"({"name": "u_x", "op": "gradient", "in": ["u", "x"]},
    {"name": "first", "op": "slice", "in": "u_x", "axis": 1, "stop": 1}, {"name": "u_xx", "op": "gradient", "in": ["first", "x"]},
    {"name": "xx", "op": "slice", "in": "u_xx", "axis": 1, "stop": 1}, {"name": "r", "op": "add", "in": ["xx", "u"]},
    {"name": "q", "op": "square"}, {"name": "end", "op": "mean"})");
}

TEST(GradientNode, PenaltyOfTheNormOfARowsGradient) {
  expect_central_differences(kNet + R"({"name": "g", "op": "gradient", "in": ["u", "x"]}, {"name": "q", "op": "square"},
    {"name": "n", "op": "sum", "axis": 1}, {"name": "norm", "op": "sqrt"}, {"name": "off", "op": "sub", "in": ["norm", 1]},
    {"name": "o", "op": "square"}, {"name": "penalty", "op": "mean"}, {"name": "m", "op": "mean", "in": "u"},
    {"name": "end", "op": "add", "in": ["penalty", "m"]})");
}

TEST(GradientNode, ByAParameterAndHessianVectorProducts) {
  expect_central_differences(kNet + R"({"name": "s", "op": "square", "in": "u"}, {"name": "e", "op": "mean"},
    {"name": "g", "op": "gradient", "in": ["e", "h.weight"]}, {"name": "v", "op": "constant", "value": 0.5, "shape": [3]},
    {"name": "gv", "op": "mul", "in": ["g", "v"]}, {"name": "d", "op": "sum"},
    {"name": "hv", "op": "gradient", "in": ["d", "h.weight"]}, {"name": "q", "op": "square"}, {"name": "end", "op": "sum"})");
}

// A filter lies in memory with other axes than in files, and a gradient has those of files.
TEST(GradientNode, ByAFilter) {
  expect_central_differences(
      R"({"name": "c", "op": "conv2d", "in": "image", "filters": 3, "kernel": 2, "activation": "tanh"},
    {"name": "q", "op": "square"}, {"name": "e", "op": "mean"}, {"name": "g", "op": "gradient", "in": ["e", "c.weight"]},
    {"name": "f", "op": "slice", "axis": 1, "stop": 1}, {"name": "p", "op": "mul", "in": ["f", "f"]}, {"name": "end", "op": "sum"})");
}

TEST(GradientNode, ThroughRecurrence) {
  expect_central_differences(R"({"name": "r", "op": "gru", "in": "seq", "units": 3, "out": ["all", "last"]},
    {"name": "u", "op": "dense", "in": "last", "units": 1}, {"name": "g", "op": "gradient", "in": ["u", "seq"]},
    {"name": "q", "op": "square"}, {"name": "end", "op": "mean"})");
}

TEST(GradientNode, ThroughAttentionAndNorms) {
  expect_central_differences(R"({"name": "a", "op": "multi_head_attention", "in": "seq", "heads": 2},
    {"name": "w", "op": "dense", "units": 4}, {"name": "n", "op": "layer_norm", "eps": 0.1}, {"name": "f", "op": "flatten"}, {"name": "u", "op": "dense", "units": 1, "activation": "tanh"},
    {"name": "g", "op": "gradient", "in": ["u", "seq"]}, {"name": "q", "op": "square"}, {"name": "end", "op": "mean"})");
}

// One step of a Hamiltonian system: the derivative is taken in the block that the scan runs.
TEST(GradientNode, InTheStepOfAScan) {
  const std::string blocks = R"(, "blocks": {"leap": {"inputs": ["q", "p"], "nodes": [
      {"name": "h", "op": "dense", "in": "q", "units": 3, "activation": "tanh"}, {"name": "v", "op": "dense", "units": 1},
      {"name": "force", "op": "gradient", "in": ["v", "q"]}, {"name": "part", "op": "mul", "in": ["force", 0.3]},
      {"name": "pushed", "op": "sub", "in": ["p", "part"]}, {"name": "way", "op": "mul", "in": ["pushed", 0.3]},
      {"name": "moved", "op": "add", "in": ["q", "way"]}], "output": "moved"}})";
  expect_central_differences(R"({"name": "q0", "op": "slice", "in": "x", "axis": 1, "stop": 1},
    {"name": "p0", "op": "slice", "in": "x", "axis": 1, "start": 1, "stop": 2},
    {"name": "run", "op": "scan", "block": "leap", "carry": {"q": "q0", "p": "p0"}, "count": 3,
     "next": {"q": "moved", "p": "pushed"}, "out": ["qs", "ps", "all"]},
    {"name": "sq", "op": "square", "in": "all"}, {"name": "end", "op": "mean"})",
                             blocks);
}

std::string per_row(const std::string& between) {
  return between + R"(, {"name": "g", "op": "gradient", "in": ["u", "x"]})";
}

bool refused(const std::string& nodes) {
  try {
    build(trained(nodes + R"(, {"name": "end", "op": "mean", "in": "g"})"));
  } catch (const UserError& error) {
    return std::string(error.what()).find("meet on the way") != std::string::npos;
  }
  return false;
}

const std::string kColumn = R"({"name": "u", "op": "dense", "units": 1})";

TEST(GradientNode, RowsThatAreApart) {
  for (
      const std::string& between : std::vector<std::string>{
          R"({"name": "a", "op": "softmax", "in": "x"}, )" + kColumn,
          R"({"name": "a", "op": "layer_norm", "in": "x"}, )" + kColumn,
          R"({"name": "a", "op": "reshape", "in": "x", "shape": ["N*3"]}, {"name": "b", "op": "tanh"}, {"name": "c", "op": "reshape", "shape": ["N", 3]}, )" +
              kColumn,
          R"({"name": "a", "op": "transpose", "in": "x", "perm": [1, 0]}, {"name": "b", "op": "reshape", "shape": ["3*N"]}, {"name": "b2", "op": "sin"}, {"name": "c", "op": "reshape", "shape": [3, "N"]}, {"name": "d", "op": "transpose", "perm": [1, 0]}, )" +
              kColumn,
          R"({"name": "a", "op": "cumsum", "in": "x", "axis": 1}, )" + kColumn,
          R"({"name": "a", "op": "concat", "in": ["x", "x"], "axis": 1}, )" + kColumn,
          R"({"name": "m", "op": "mean", "in": "x", "axis": 0}, {"name": "m0", "op": "stop_gradient"}, {"name": "a", "op": "sub", "in": ["x", "m0"]}, )" +
              kColumn,
          R"({"name": "a", "op": "einsum", "in": ["x", "x"], "equation": "ni,nj->nij"}, {"name": "f", "op": "flatten"}, )" +
              kColumn,
          R"({"name": "u", "op": "max", "in": "x", "axis": 1})",
          R"({"name": "a", "op": "dropout", "in": "x", "rate": 0.5}, )" + kColumn,
          R"({"name": "t", "op": "param", "shape": [3, 3]}, {"name": "a", "op": "matmul", "in": ["x", "t"]}, {"name": "b", "op": "gelu"}, )" +
              kColumn,
      })
    EXPECT_FALSE(refused(per_row(between))) << between;
}

TEST(GradientNode, RowsThatMeet) {
  for (
      const std::string& between : std::vector<std::string>{
          R"({"name": "a", "op": "batch_norm", "in": "x"}, )" + kColumn,
          R"({"name": "m", "op": "mean", "in": "x", "axis": 0}, {"name": "a", "op": "sub", "in": ["x", "m"]}, )" +
              kColumn,
          R"({"name": "a", "op": "softmax", "in": "x", "axis": 0}, )" + kColumn,
          R"({"name": "a", "op": "reverse", "in": "x", "axes": [0]}, )" + kColumn,
          R"({"name": "a", "op": "cumsum", "in": "x", "axis": 0}, )" + kColumn,
          R"({"name": "t", "op": "transpose", "in": "x", "perm": [1, 0]}, {"name": "a", "op": "matmul", "in": ["x", "t"]}, )" +
              kColumn,
          R"({"name": "t", "op": "slice", "in": "x", "axis": 0, "stop": 1}, {"name": "a", "op": "add", "in": ["x", "t"]}, )" +
              kColumn,
          R"({"name": "a", "op": "gather", "in": ["x", "ids"]}, )" + kColumn,
      })
    EXPECT_TRUE(refused(per_row(between))) << between;
}

// A number of the whole batch has a gradient by all of its rows, whatever meets.
TEST(GradientNode, OfANumberNeedsNoRows) {
  expect_central_differences(
      R"({"name": "a", "op": "batch_norm", "in": "x"}, {"name": "b", "op": "dense", "units": 2, "activation": "tanh"},
    {"name": "e", "op": "sum"}, {"name": "g", "op": "gradient", "in": ["e", "x"]}, {"name": "q", "op": "square"}, {"name": "end", "op": "mean"})");
}

// --- stop_gradient and its like ---

std::vector<double> change_of_w(const std::string& nodes) {
  const std::string text = trained(R"({"name": "w", "op": "param", "shape": [3], "init": "ones"}, )" + nodes);
  const auto built = build(text);
  Training t(text);
  const std::vector<double> before = t.states.at("w").real;
  t.step(inputs_of(*built->module.find_graph("train")));
  std::vector<double> change;
  for (size_t i = 0; i < before.size(); ++i) change.push_back(before[i] - t.states.at("w").real[i]);
  return change;
}

TEST(GradientFlow, EachOperatorSaysWhatArrives) {
  const auto expect = [](const std::string& node, double scale, double limit = 1e9) {
    const std::vector<double> got = change_of_w(
        node +
        R"(, {"name": "b", "op": "square", "in": "y"}, {"name": "c", "op": "add", "in": ["b", "w"]}, {"name": "end", "op": "sum"})");
    for (const double g : got) EXPECT_NEAR(g, 1 + std::clamp(2.0, -limit, limit) * scale, 1e-12) << node;
  };
  expect(R"({"name": "y", "op": "stop_gradient", "in": "w"})", 0);
  expect(R"({"name": "y", "op": "scale_gradient", "scale": -0.5, "in": "w"})", -0.5);
  expect(R"({"name": "y", "op": "clip_gradient", "limit": 0.25, "in": "w"})", 1, 0.25);
  expect(
      R"({"name": "r", "op": "round", "in": "w"}, {"name": "m", "op": "mul", "in": ["w", 3]}, {"name": "y", "op": "straight_through", "in": ["r", "m"]})",
      3);
}

// What the loss reads through stop_gradient alone is not trained: no weight decay reaches it.
TEST(GradientFlow, BehindAStopNothingIsTrained) {
  const std::string text = model(
      R"("x": {"shape": ["N", 2]})",
      R"({"name": "a", "op": "dense", "in": "x", "units": 2}, {"name": "t", "op": "dense", "in": "x", "units": 2},
         {"name": "t0", "op": "stop_gradient"}, {"name": "d", "op": "sub", "in": ["a", "t0"]}, {"name": "q", "op": "square"}, {"name": "end", "op": "mean"})",
      R"(, "train": {"batch": {"N": 2}, "steps": 1, "loss": {"op": "value", "in": "end"}, "optimizer": {"op": "adamw", "lr": 0.1, "weight_decay": 0.1}})");
  Training t(text);
  const ir::NamedTensors before = t.states;
  t.step({{"x", tensor({ir::DType::f32, {2, 2}}, wave)}});
  EXPECT_EQ(t.states.at("t.weight").real, before.at("t.weight").real);
  EXPECT_NE(t.states.at("a.weight").real, before.at("a.weight").real);
  EXPECT_EQ(t.states.count("t.weight.m"), 0U);
}

}  // namespace
}  // namespace heddle::frontend
