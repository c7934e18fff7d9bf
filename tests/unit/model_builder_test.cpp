// A model that is built by calls is its JSON twin: the same training to the bit, the same faults at places of its own.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <limits>

#include "tests/support/text_files.h"
#include "tools/api/heddle.h"

namespace heddle {
namespace {

namespace fs = std::filesystem;

constexpr const char* kText = R"({
  "format": "heddle-model/1", "name": "twin",
  "let": {"d": 6},
  "inputs": {"x": {"shape": ["N", 3]}, "label": {"shape": ["N"], "dtype": "i32"}},
  "blocks": {"residual": {"inputs": ["a"], "output": "sum", "nodes": [
    {"name": "h", "op": "dense", "in": "a", "units": "d", "activation": "tanh"},
    {"name": "sum", "op": "add", "in": ["a", "h"]}]}},
  "nodes": [
    {"name": "first", "op": "dense", "in": "x", "units": "d", "activation": "relu"},
    {"name": "deep", "op": "block:residual", "repeat": 2},
    {"op": "dropout", "rate": 0.25},
    {"name": "logits", "op": "dense", "units": 4}],
  "outputs": {"logits": "logits"},
  "train": {
    "batch": {"N": 8}, "seed": 3,
    "loss": {"op": "cross_entropy", "in": ["logits", "label"]},
    "metrics": [{"op": "accuracy", "in": ["logits", "label"]}],
    "optimizer": {"op": "adam", "lr": 0.01}, "clip_norm": 1.5}
})";

ModelBuilder twin() {
  ModelBuilder net("twin");
  net.set("let", {{"d", 6}});
  net.input("x", {"N", 3}).input("label", {"N"}, "i32");
  const Value h = {{"name", "h"}, {"op", "dense"}, {"in", "a"}, {"units", "d"}, {"activation", "tanh"}};
  const Value sum = {{"name", "sum"}, {"op", "add"}, {"in", Value::list({"a", "h"})}};
  const Value residual = {{"inputs", Value::list({"a"})}, {"output", "sum"}, {"nodes", Value::list({h, sum})}};
  net.set("blocks", {{"residual", residual}});
  net.node("first", "dense", {"x"}, {{"units", "d"}, {"activation", "relu"}});
  net.node("deep", "block:residual", {}, {{"repeat", 2}});
  net.node("", "dropout", {}, {{"rate", 0.25}});
  net.node("logits", "dense", {}, {{"units", 4}});
  net.output("logits", "logits");
  const Value compared = Value::list({"logits", "label"});
  net.set("train", {{"batch", {{"N", 8}}},
                    {"seed", 3},
                    {"loss", {{"op", "cross_entropy"}, {"in", compared}}},
                    {"metrics", Value::list({{{"op", "accuracy"}, {"in", compared}}})},
                    {"optimizer", {{"op", "adam"}, {"lr", 0.01}}},
                    {"clip_norm", 1.5}});
  return net;
}

Inputs rows() {
  std::vector<float> x;
  std::vector<int32_t> labels;
  for (int i = 0; i < 8; ++i) {
    for (int j = 0; j < 3; ++j) x.push_back(static_cast<float>(std::sin(i + 0.5 * j)));
    labels.push_back(i % 4);
  }
  return {{"x", Array::f32({8, 3}, x)}, {"label", Array::i32({8}, labels)}};
}

// The message that a model is refused with.
std::string refusal(const ModelBuilder& net, const Options& options = {}) {
  try {
    (void)Model::build(net, options);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), 1);
    return error.what();
  }
  return "accepted";
}

TEST(ModelBuilder, TrainsToTheBitsOfItsTwin) {
  const fs::path folder = fs::temp_directory_path() / ("heddle-builder-" + std::to_string(::getpid()));
  fs::create_directory(folder);
  Model read = Model::parse(kText, {.device = "host"}), built = Model::build(twin(), {.device = "host"});
  for (int step = 0; step < 20; ++step) ASSERT_EQ(read.train_step(rows()), built.train_step(rows())) << step;
  read.save(folder / "read.safetensors");
  built.save(folder / "built.safetensors");
  const std::string weights = testing::read_text(folder / "read.safetensors");
  EXPECT_FALSE(weights.empty());
  EXPECT_EQ(weights, testing::read_text(folder / "built.safetensors"));
  fs::remove_all(folder);
}

TEST(ModelBuilder, OverridesApplyAsToAText) {
  Model read = Model::parse(kText, {.set = {"nodes.first.units=6", "train.optimizer.lr=0.5"}, .device = "host"});
  Model built = Model::build(twin(), {.set = {"nodes.first.units=6", "train.optimizer.lr=0.5"}, .device = "host"});
  for (int step = 0; step < 3; ++step) EXPECT_EQ(read.train_step(rows()), built.train_step(rows()));
}

TEST(ModelBuilder, FaultsNameTheNode) {
  ModelBuilder net("m");
  net.input("x", {"N", 3}).node("fc", "dense", {"x"}, {{"units", 0.5}});
  EXPECT_EQ(refusal(net), "nodes.fc.units: error: dense 'fc': 'units': expected an integer, found 0.5\n");
  EXPECT_EQ(refusal(net, {.set = {"nodes.fc.units=4"}}), "accepted");
}

TEST(ModelBuilder, RefusesWhatATextCouldNotSay) {
  EXPECT_EQ(refusal(ModelBuilder("m").input("x", {"N", 3}).node("y", "relu", {"x"}).set("name", "twice")),
            "name: error: the key 'name' is given twice\n");
  EXPECT_EQ(refusal(ModelBuilder("m")
                        .input("x", {"N", 3})
                        .node("y", "dropout", {"x"}, {{"rate", std::numeric_limits<double>::infinity()}})),
            "nodes.y.rate: error: expected a finite number, found inf\n");
  Value deep = 1;
  for (int i = 0; i < 1000; ++i) deep = Value::list({deep});
  EXPECT_NE(refusal(ModelBuilder("m").set("let", {{"d", deep}})).find("error: nesting deeper than 256\n"),
            std::string::npos);
}

TEST(ModelBuilder, ReportsFaultsOfTheReader) {
  const std::string told = refusal(ModelBuilder("m").input("x", {"N", 3}).node("y", "relu", {"z"}));
  EXPECT_EQ(told.find("nodes.y.in: error: "), 0U) << told;
  EXPECT_EQ(refusal(ModelBuilder("m")).find("inputs: error: "), 0U);
}

}  // namespace
}  // namespace heddle
