// The layer scan: a recurrent network trains as the same network written out step by step.
#include <gtest/gtest.h>

#include "frontend/read/read_model.h"
#include "ir/scan.h"
#include "ir/verify/verify.h"
#include "passes/pipeline.h"
#include "tests/support/host_run.h"
#include "tests/support/source_dir.h"
#include "tests/support/unroll.h"
#include "tests/unit/built_model.h"

namespace heddle::frontend {
namespace {

using ir::Evaluation;
using ir::NamedTensors;
using ir::Tensor;
using ir::ValueId;

// `sources` outlives the module, whose places point into it.
ir::Module recurrent(Sources& sources) {
  const std::string file = (testing::source_dir() / "tests/unit/Inputs/recurrent.json").string();
  const Model m = read_model(sources, file, {.set = {}, .small = true});
  ir::Module module = build_module(m, default_build_options(m));
  for (const std::string& problem : ir::verify(module)) ADD_FAILURE() << problem;
  return module;
}

NamedTensors batch(const ir::Graph& g, int64_t step) {
  NamedTensors inputs;
  for (const ValueId v : g.inputs)
    if (g[v].role == ir::Role::input)
      inputs[g[v].name] = tensor(g[v].type, [&](int64_t i) {
        return g[v].type.dtype == ir::DType::f32 ? wave(i + 31 * step) : static_cast<double>((i * 7 + step) % 10);
      });
  return inputs;
}

double apart(const Tensor& a, const Tensor& b) {
  double most = 0;
  for (int64_t i = 0; i < a.elements(); ++i)
    most = std::max(most, std::abs(a.at(i) - b.at(i)) / std::max(1.0, std::abs(a.at(i))));
  return most;
}

// Runs @init, then @train a few times, by `run`; what is left is the states and the losses.
struct Trained {
  NamedTensors states;
  std::vector<double> losses;
};
template <class Run>
Trained train(const ir::Module& m, int64_t steps, Run run) {
  Trained out;
  const ir::Graph& init = *m.find_graph("init");
  for (const ValueId v : init.inputs) out.states[init[v].name] = Tensor(init[v].type);
  for (auto& [name, value] : run("init", out.states).updated) out.states[name] = std::move(value);
  for (int64_t step = 0; step < steps; ++step) {
    NamedTensors all = batch(*m.find_graph("train"), step);
    all.insert(out.states.begin(), out.states.end());
    Evaluation done = run("train", all);
    out.losses.push_back(done.outputs[0].at(0));
    for (auto& [name, value] : done.updated) out.states[name] = std::move(value);
  }
  return out;
}

void expect_equal(const Trained& expected, const Trained& got, double tolerance) {
  ASSERT_EQ(expected.losses.size(), got.losses.size());
  for (size_t i = 0; i < expected.losses.size(); ++i)
    EXPECT_NEAR(expected.losses[i], got.losses[i], tolerance * std::abs(expected.losses[i])) << "step " << i;
  ASSERT_EQ(expected.states.size(), got.states.size());
  for (const auto& [name, value] : expected.states) EXPECT_LE(apart(value, got.states.at(name)), tolerance) << name;
}

// So many steps, by the evaluator.
Trained by_oracle(ir::Module which, int steps) {
  which = testing::differentiated(std::move(which));
  return train(which, steps, [&](const char* graph, const NamedTensors& inputs) {
    const ir::Graph& g = *which.find_graph(graph);
    NamedTensors own;
    for (const ValueId v : g.inputs) own[g[v].name] = inputs.at(g[v].name);
    return evaluate(which, g, own);
  });
}

// In double precision, dropout included: each step of a sequence draws numbers of its own.
TEST(ScanLayer, TrainsAsItsStepsWrittenOut) {
  Sources sources;
  const ir::Module m = recurrent(sources);
  ASSERT_EQ(m.bodies.size(), 4U);  // two scans, in @train and in @eval and @predict
  const Trained scanned = by_oracle(m, 4), written = by_oracle(testing::unrolled(m), 4);
  expect_equal(written, scanned, 1e-9);
  EXPECT_NE(scanned.losses[0], scanned.losses[3]);
}

TEST(ScanLayer, TrainsOnTheHostAsItsStepsWrittenOut) {
  Sources sources;
  const ir::Module m = recurrent(sources);
  const auto on_host = [](const ir::Module& which, int threads) {
    testing::HostRun run(which, "train", {.threads = threads});
    return train(which, 4, [&](const char* graph, const NamedTensors& inputs) { return run(graph, inputs); });
  };
  const Trained one = on_host(m, 1), two = on_host(m, 2);
  expect_equal(one, two, 0);
  expect_equal(on_host(testing::unrolled(m), 1), one, 1e-3);
}

// Running statistics are renewed in each step of a sequence, and carried to the next; they are as they are where the
// steps are written out.
TEST(ScanLayer, CarriesRunningStatisticsFromStepToStep) {
  const auto built = build(model(
      R"("x": {"shape": ["N", 3, 4], "dtype": "f32"}, "t": {"shape": ["N", 4]})",
      R"({"name": "s", "op": "scan", "block": "norm", "in": {"v": "x"}, "slice": ["v"], "out": "y"},
                                    {"name": "m", "op": "mean", "in": "y", "axis": 1}, {"name": "w", "op": "dense", "in": "m", "units": 4})",
      R"(, "blocks": {"norm": {"inputs": ["v"], "nodes": [{"name": "n", "op": "batch_norm", "in": "v"}], "output": "n"}},
                                    "train": {"batch": {"N": 8}, "steps": 5, "loss": {"op": "mse", "in": ["w", "t"]}, "optimizer": "sgd"})"));
  const Trained scanned = by_oracle(built->module, 3), written = by_oracle(testing::unrolled(built->module), 3);
  expect_equal(written, scanned, 1e-9);
  EXPECT_EQ(scanned.states.at("s.n.num_batches_tracked").at(0), 3 * 3);
  testing::HostRun run(built->module, "train");
  const Trained on_host =
      train(built->module, 3, [&](const char* graph, const NamedTensors& inputs) { return run(graph, inputs); });
  expect_equal(scanned, on_host, 1e-3);
}

// Places that are kept inside need no check, which a turn could not do: the bins of searchsorted and histogram, and what a
// clamp leaves.
TEST(ScanLayer, LooksUpWhatIsKeptInside) {
  const auto built = build(model(
      R"("x": {"shape": ["N", 3, 4]}, "t": {"shape": ["N", 4]})",
      R"({"name": "s", "op": "scan", "block": "bins", "in": {"v": "x"}, "slice": ["v"], "carry": {"h": ["N", 4]}, "out": ["h", "all"]},
         {"name": "w", "op": "dense", "in": "h", "units": 4})",
      R"(, "blocks": {"bins": {"inputs": ["v", "h"], "nodes": [
           {"name": "g", "op": "dense", "in": "v", "units": 4},
           {"name": "b", "op": "searchsorted", "in": "g", "boundaries": [-0.5, 0, 0.5]},
           {"name": "n", "op": "cast", "in": "b", "dtype": "f32"}, {"name": "y", "op": "mul", "in": ["n", "g"]},
           {"name": "c", "op": "histogram", "in": "g", "bins": 4, "min": -1, "max": 1},
           {"name": "z", "op": "mul", "in": ["y", "c"]}, {"name": "k", "op": "clamp", "in": "b", "low": 0, "high": 2},
           {"name": "e", "op": "embedding", "in": "k", "vocab": 3, "units": 4}, {"name": "f", "op": "mean", "in": "e", "axis": 1},
           {"name": "a", "op": "add", "in": ["z", "h"]}, {"name": "o", "op": "add", "in": ["a", "f"]}], "output": "o"}},
         "train": {"batch": {"N": 8}, "steps": 5, "loss": {"op": "mse", "in": ["w", "t"]}, "optimizer": {"op": "sgd", "lr": 1e-4}})"));
  const Trained scanned = by_oracle(built->module, 3), written = by_oracle(testing::unrolled(built->module), 3);
  expect_equal(written, scanned, 1e-9);
  testing::HostRun run(built->module, "train");
  expect_equal(scanned, train(built->module, 3, [&](const char* g, const NamedTensors& in) { return run(g, in); }),
               1e-3);
}

// The masks of two steps differ, and so do those of two runs.
TEST(ScanLayer, DrawsNumbersForEachStep) {
  const auto built = build(model(
      R"("x": {"shape": ["N", 3, 64], "dtype": "f32"}, "t": {"shape": ["N", 64]})",
      R"({"name": "s", "op": "scan", "block": "drop", "in": {"v": "x"}, "slice": ["v"], "out": "y"},
                                    {"name": "m", "op": "mean", "in": "y", "axis": 1}, {"name": "w", "op": "dense", "in": "m", "units": 64})",
      R"(, "blocks": {"drop": {"inputs": ["v"], "nodes": [{"name": "d", "op": "dropout", "rate": 0.5}], "output": "d"}},
                                    "train": {"batch": {"N": 1}, "steps": 5, "loss": {"op": "mse", "in": ["w", "t"]}, "optimizer": "sgd"})"));
  const ir::Graph& body = built->module.bodies.back();
  ASSERT_EQ(ir::inputs_with(body, ir::Role::index).size(), 1U);
  ir::Module alone;
  alone.bodies = built->module.bodies;
  const ir::Graph& g = *built->module.find_graph("train");
  const auto scan = std::find_if(g.order.begin(), g.order.end(), [&](ir::NodeId n) { return ir::is_scan(g[n]); });
  ASSERT_NE(scan, g.order.end());
  ir::Graph only;
  ir::Values operands;
  NamedTensors inputs;
  for (const ValueId v : g[*scan].operands) {
    const ir::Type& type = g[v].type;
    operands.push_back(only.add_input(g[v].name, type, ir::Role::input));
    inputs[g[v].name] = tensor(type, [&](int64_t) { return type.dtype == ir::DType::f32 ? 1.0 : 3.0; });
  }
  const ir::NodeId n = ir::add_scan(only, *alone.find_body(g[*scan].callee), operands, g[*scan].attrs, {"y"}, {});
  only.outputs = only[n].results;
  const auto rows = [&](double step) {
    inputs["step"].set(0, step);
    return evaluate(alone, only, inputs).outputs[0].real;
  };
  const std::vector<double> first = rows(0), second = rows(1);
  const auto row = [](const std::vector<double>& all, std::ptrdiff_t i) {
    return std::vector<double>(all.begin() + 64 * i, all.begin() + 64 * (i + 1));
  };
  EXPECT_NE(row(first, 0), row(first, 1));
  EXPECT_NE(row(first, 1), row(first, 2));
  EXPECT_NE(row(first, 0), row(second, 0));
  EXPECT_NE(row(first, 2), row(second, 0));
}

}  // namespace
}  // namespace heddle::frontend
