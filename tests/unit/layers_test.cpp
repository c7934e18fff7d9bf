// Layers from text to numbers.
#include <gtest/gtest.h>

#include <cmath>

#include "ir/op_def.h"
#include "passes/pipeline.h"
#include "tests/unit/built_model.h"

namespace heddle::frontend {
namespace {

using ir::NamedTensors;
using ir::Tensor;

// The same image and weights give the same result in either layout.
TEST(Layers, LayoutsAgree) {
  const std::string nodes =
      R"({"name": "c", "op": "conv2d", "filters": 3, "kernel": 3, "stride": 2, "pad": "same", "activation": "relu"},
                               {"name": "p", "op": "avg_pool2d", "window": 2}, {"name": "y", "op": "global_avg_pool"})";
  const ir::Type nhwc{ir::DType::f32, {1, 8, 8, 2}}, nchw{ir::DType::f32, {1, 2, 8, 8}};
  NamedTensors values;
  values["c.weight"] = tensor({ir::DType::f32, {3, 3, 3, 2}}, wave);
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

// A filter lies as OHWI; a model that reads it under its path means OIHW, as files do.
TEST(Layers, FiltersAreReadInTheirLogicalShape) {
  const std::string text = model(R"("x": {"shape": ["N", 5, 5, 2], "dtype": "f32"})",
                                 R"({"name": "c", "op": "conv2d", "in": "x", "filters": 2, "kernel": [1, 3]},
               {"name": "y", "op": "reshape", "in": "c.weight", "shape": [12]})",
                                 R"(, "outputs": {"y": "y", "c": "c"})");
  NamedTensors values;
  values["x"] = tensor({ir::DType::f32, {1, 5, 5, 2}}, wave);
  values["c.bias"] = tensor({ir::DType::f32, {2}}, wave);
  // Element i of [2,1,3,2] is the one at [o,c,0,w] of [2,2,1,3].
  values["c.weight"] = tensor({ir::DType::f32, {2, 1, 3, 2}},
                              [](int64_t i) { return static_cast<double>(i / 6 * 6 + i % 2 * 3 + i % 6 / 2); });
  EXPECT_EQ(predict(text, values), (std::vector<double>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
}

ir::Dims pads_of(const std::string& settings) {
  const auto built =
      build(model(R"("x": {"shape": ["N", 7, 10, 1], "dtype": "f32"})",
                  R"({"name": "c", "op": "conv2d", "filters": 1, )" + settings + "}", R"(, "outputs": {"c": "c"})"));
  const ir::Graph& g = *built->module.find_graph("predict");
  const ir::Node& conv = *g.def(g.find("c.conv"));
  return ir::signature(g, conv).integers("pads");  // top, left, bottom, right
}

TEST(Layers, Padding) {
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

TEST(Layers, ArithmeticBroadcasts) {
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

TEST(Layers, SplitAndConcat) {
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

// In training channels of a row vanish as a whole, about as many as the rate says; the others are
// scaled. Not elsewhere.
TEST(Layers, SpatialDropoutDropsChannels) {
  const std::string text =
      model(R"("x": {"shape": ["N", 2, 3, 50]})",
            R"({"name": "w", "op": "param", "shape": [1]}, {"name": "p", "op": "mul", "in": ["x", "w"]},
                                    {"name": "d", "op": "spatial_dropout", "in": "p", "rate": 0.25}, {"name": "s", "op": "sum"})",
            R"(, "outputs": {"o": "d"}, "train": {"batch": {"N": 8}, "steps": 1,
                                      "loss": {"op": "value", "in": "s"}, "optimizer": "sgd"})");
  const auto built = build(text);
  passes::find_pass("differentiate")->run(built->module, {});
  ir::Graph& g = *built->module.find_graph("train");
  g.outputs = {g.find("d")};
  NamedTensors values;
  for (const ir::ValueId v : g.inputs) values[g[v].name] = tensor(g[v].type, [](int64_t) { return 3; });
  const Tensor d = ir::evaluate(built->module, g, values).outputs.at(0);
  int64_t dropped = 0;
  for (int64_t row = 0; row < 8; ++row)
    for (int64_t channel = 0; channel < 50; ++channel) {
      const double first = d.at(row * 300 + channel);
      dropped += first == 0 ? 1 : 0;
      for (int64_t position = 0; position < 6; ++position) {
        const double other = d.at(row * 300 + position * 50 + channel);
        EXPECT_EQ(other, first);
        EXPECT_TRUE(other == 0 || std::abs(other - 9 / 0.75) < 1e-12) << other;
      }
    }
  EXPECT_NEAR(static_cast<double>(dropped), 100, 25);  // of 400; the deviation is 8.7
  for (const double v : predict(text, values)) EXPECT_EQ(v, 9);
}

// As Python's x[start:stop]: what lies beyond an end means that end.
TEST(Layers, SliceBeyondTheEnds) {
  NamedTensors values;
  values["x"] = tensor({ir::DType::f32, {1, 4}}, [](int64_t i) { return static_cast<double>(i); });
  const auto sliced = [&](const std::string& range) {
    const std::string nodes = R"({"name": "s", "op": "slice", )" + range + R"(}, {"name": "y", "op": "neg"})";
    return predict(model(R"("x": {"shape": ["N", 4], "dtype": "f32"})", nodes, R"(, "outputs": {"y": "y"})"), values);
  };
  EXPECT_EQ(sliced(R"("start": -9, "stop": 99)"), (std::vector<double>{0, -1, -2, -3}));
  EXPECT_EQ(sliced(R"("start": -9, "stop": -3)"), (std::vector<double>{0}));
  EXPECT_EQ(sliced(R"("start": 3, "stop": 5)"), (std::vector<double>{-3}));
}

}  // namespace
}  // namespace heddle::frontend
