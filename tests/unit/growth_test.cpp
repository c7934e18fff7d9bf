// Every stage of a compilation takes about as much longer as a model is larger. bench/scaling prints the figures.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

#include "codegen/lower.h"
#include "passes/pipeline.h"
#include "tests/unit/built_model.h"

namespace heddle {
namespace {

using Seconds = std::map<std::string, double>;
using Family = std::string (*)(int);

std::string trained(const std::string& nodes, const std::string& metrics = "") {
  return frontend::model(
      R"("x": {"shape": ["N", 16], "dtype": "f32"}, "label": {"shape": ["N"], "dtype": "i32"})",
      nodes + R"({"name": "logits", "op": "dense", "units": 4})",
      R"(, "outputs": {"logits": "logits"}, "train": {"batch": {"N": 96}, "epochs": 1, "optimizer": {"op": "adam", "lr": 0.001},
          "loss": {"op": "cross_entropy", "in": ["logits", "label"]})" +
          metrics + "}");
}

// Of a sequence of six steps, whose mean `last` becomes the logits.
std::string of_sequence(const std::string& nodes, const std::string& last) {
  return frontend::model(
      R"("x": {"shape": ["N", 6, 16], "dtype": "f32"}, "label": {"shape": ["N"], "dtype": "i32"})",
      nodes +
          fmt::format(
              R"({{"name": "mean", "op": "mean", "in": "{}", "axis": 1}}, {{"name": "logits", "op": "dense", "units": 4}})",
              last),
      R"(, "outputs": {"logits": "logits"}, "train": {"batch": {"N": 16}, "epochs": 1, "optimizer": {"op": "adam", "lr": 0.001},
          "loss": {"op": "cross_entropy", "in": ["logits", "label"]}})");
}

std::string recurrent(int n, const std::string& op, const std::string& more) {
  std::string nodes, last = "x";
  for (int i = 0; i < n; ++i) {
    nodes += fmt::format(R"({{"name": "r{0}", "op": "{1}", "in": "{2}", "units": 16, "out": ["s{0}", "l{0}"{3}]}},)", i,
                         op, last, more.empty() ? "" : fmt::format(", \"{}{}\"", more, i));
    last = fmt::format("s{}", i);
  }
  return of_sequence(nodes, last);
}

std::string lstm_layers(int n) { return recurrent(n, "lstm", "c"); }
std::string gru_layers(int n) { return recurrent(n, "gru", ""); }

std::string transformer(int n) {
  std::string nodes, last = "x";
  for (int i = 0; i < n; ++i) {
    nodes += fmt::format(
        R"({{"name": "e{}", "op": "encoder_layer", "in": "{}", "heads": 2, "feedforward": 32, "causal": true}},)", i,
        last);
    last = fmt::format("e{}", i);
  }
  return of_sequence(nodes, last);
}

std::string residual(int n) {
  std::string nodes, last = "x";
  for (int i = 0; i < n; ++i) {
    nodes += fmt::format(R"({{"name": "norm{0}", "op": "layer_norm", "in": "{1}"}},
      {{"name": "up{0}", "op": "dense", "units": 16, "activation": "gelu"}}, {{"name": "down{0}", "op": "dense", "units": 16}},
      {{"name": "h{0}", "op": "add", "in": ["{1}", "down{0}"]}},)",
                         i, last);
    last = fmt::format("h{}", i);
  }
  return trained(nodes);
}

std::string branches(int n) {
  std::string nodes, list;
  for (int i = 0; i < n; ++i) {
    nodes += fmt::format(R"({{"name": "b{}", "op": "dense", "in": "x", "units": 4, "activation": "relu"}},)", i);
    list += fmt::format("{}\"b{}\"", i == 0 ? "" : ", ", i);
  }
  return trained(nodes + fmt::format(R"({{"name": "all", "op": "concat", "in": [{}]}},)", list));
}

std::string chain(int n) {
  std::string nodes = R"({"name": "first", "op": "dense", "in": "x", "units": 16},)";  // so that gradients flow through
  for (int i = 0; i < n; ++i) nodes += R"({"op": "tanh"},)";
  return trained(nodes);
}

std::string dropout(int n) {
  std::string nodes;
  for (int i = 0; i < n; ++i)
    nodes += fmt::format(
        R"({{"name": "fc{}", "op": "dense", "units": 16, "activation": "relu"{}}}, {{"op": "dropout", "rate": 0.1}},)",
        i, i == 0 ? R"(, "in": "x")" : "");
  return trained(nodes);
}

std::string metrics(int n) {
  std::string nodes, list;
  for (int i = 0; i < n; ++i) {
    nodes += fmt::format(R"({{"name": "m{}", "op": "dense", "in": "x", "units": 4}},)", i);
    list += fmt::format(R"({}{{"op": "accuracy", "in": ["m{}", "label"]}})", i == 0 ? "" : ", ", i);
  }
  return trained(nodes, fmt::format(R"(, "metrics": [{}])", list));
}

Seconds stages(const std::string& text) {
  Seconds seconds;
  const auto timed = [&](const std::string& stage, const auto& work) {
    const double begin = passes::processor_seconds();
    work();
    seconds[stage] += passes::processor_seconds() - begin;
  };
  std::unique_ptr<frontend::Built> built;
  timed("build", [&] { built = frontend::build(text); });
  for (const passes::PassTime& t : passes::run_pipeline(built->module, {})) seconds[t.name] += t.seconds;
  timed("lower", [&] { codegen::lower(built->module, "m", ir::host()); });
  return seconds;
}

// The smaller of two measurements, since whatever else runs takes caches away.
Seconds least(const std::string& text) {
  Seconds least = stages(text);
  for (const auto& [stage, seconds] : stages(text)) least[stage] = std::min(least[stage], seconds);
  return least;
}

// Four times as large takes 4 times as long where it is linear, and 16 times where it is quadratic.
// What takes less than 5 ms counts as 5: pack searches for up to some ten milliseconds whatever the
// size.
void expect_linear(const char* name, Family family, int n) {
  if (HEDDLE_SANITIZED) GTEST_SKIP() << "sanitizers slow each stage by a factor of its own";
  constexpr double kMost = 10, kLeastSeconds = 0.005;
  const Seconds small = least(family(n)), large = least(family(4 * n));
  for (const auto& [stage, seconds] : large)
    EXPECT_LT(seconds, kMost * std::max(small.at(stage), kLeastSeconds)) << stage << " of " << name << " at " << 4 * n;
}

TEST(Growth, ResidualLayers) { expect_linear("residual", residual, 8); }
TEST(Growth, BranchesOfOneInput) { expect_linear("branches", branches, 12); }
TEST(Growth, ChainOfElementwiseOperators) { expect_linear("chain", chain, 250); }
TEST(Growth, LayersWithDropout) { expect_linear("dropout", dropout, 12); }
TEST(Growth, LayersOfLstm) { expect_linear("lstm", lstm_layers, 3); }
TEST(Growth, LayersOfGru) { expect_linear("gru", gru_layers, 3); }
TEST(Growth, TransformerBlocks) { expect_linear("transformer", transformer, 4); }
TEST(Growth, ManyMetrics) { expect_linear("metrics", metrics, 8); }

}  // namespace
}  // namespace heddle
