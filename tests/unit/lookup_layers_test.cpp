// Layers that find and order elements.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/unit/built_model.h"

namespace heddle::frontend {
namespace {

using ir::NamedTensors;

const std::string kIds = R"("ids": {"shape": ["N", 3], "dtype": "i32"})";

TEST(Embedding, FindsRows) {
  NamedTensors values;
  values["e.weight"] = tensor({ir::DType::f32, {4, 2}}, [](int64_t i) { return static_cast<double>(i); });
  values["ids"] = tensor({ir::DType::i32, {1, 3}}, [](int64_t i) { return i == 1 ? 3.0 : 1.0; });
  const std::string plain = R"({"name": "e", "op": "embedding", "vocab": 4, "units": 2})";
  const std::string padded = R"({"name": "e", "op": "embedding", "vocab": 4, "units": 2, "padding": 1})";
  EXPECT_EQ(predict(model(kIds, plain, R"(, "outputs": {"y": "e"})"), values), (std::vector<double>{2, 3, 6, 7, 2, 3}));
  EXPECT_EQ(predict(model(kIds, padded, R"(, "outputs": {"y": "e"})"), values),
            (std::vector<double>{0, 0, 6, 7, 0, 0}));
}

// A row learns from all of its indices; rows without one, and that of the padding, stay.
TEST(Embedding, TrainsTheRowsThatAreFound) {
  Training training(model(kIds, R"({"name": "e", "op": "embedding", "vocab": 5, "units": 2, "padding": 4},
      {"name": "s", "op": "mul", "in": ["e", 3]}, {"name": "l", "op": "sum"})",
                          R"(, "outputs": {"y": "s"}, "train": {"batch": {"N": 2}, "steps": 1,
      "loss": {"op": "value", "in": "l"}, "optimizer": {"op": "sgd", "lr": 0.5}})"));
  const ir::Tensor before = training.states.at("e.weight");
  for (size_t i = 0; i < 10; ++i) EXPECT_EQ(before.real[i] == 0, i >= 8) << "element " << i;
  const std::vector<double> ids = {0, 2, 0, 4, 0, 2};
  training.step({{"ids", tensor({ir::DType::i32, {2, 3}}, [&](int64_t i) { return ids[static_cast<size_t>(i)]; })}});
  const ir::Tensor& after = training.states.at("e.weight");
  const std::vector<double> times = {3, 0, 2, 0, 0};
  for (size_t i = 0; i < 10; ++i)
    EXPECT_NEAR(after.real[i], before.real[i] - 0.5 * 3 * times[i / 2], 1e-12) << "element " << i;
}

TEST(Gather, StandsInThePlaceOfTheAxis) {
  NamedTensors values;
  values["x"] = tensor({ir::DType::f32, {1, 2, 3}}, [](int64_t i) { return static_cast<double>(i); });
  values["ids"] = tensor({ir::DType::i32, {1, 3}}, [](int64_t i) { return static_cast<double>(2 - i); });
  const std::string inputs = R"("x": {"shape": ["N", 2, 3]}, )" + kIds;
  const std::string nodes = R"({"name": "y", "op": "gather", "in": ["x", "ids"], "axis": -1})";
  EXPECT_EQ(predict(model(inputs, nodes, R"(, "outputs": {"y": "y"})"), values),
            (std::vector<double>{2, 1, 0, 5, 4, 3}));
}

// [N,2,3] holds 0 to 5 in a row; the results as real numbers.
std::vector<double> indexed(const std::string& indices, const std::vector<double>& ids, const std::string& node) {
  NamedTensors values;
  values["x"] = tensor({ir::DType::f32, {1, 2, 3}}, [](int64_t i) { return static_cast<double>(i); });
  ir::Dims dims{1};
  for (const char c : indices)
    if (c != ',') dims.push_back(c - '0');
  values["ids"] = tensor({ir::DType::i32, dims}, [&](int64_t i) { return ids[static_cast<size_t>(i)]; });
  const std::string inputs =
      R"("x": {"shape": ["N", 2, 3]}, "ids": {"shape": ["N", )" + indices + R"(], "dtype": "i32"})";
  return predict(model(inputs, node, R"(, "outputs": {"y": "y"})"), values);
}

TEST(GatherNd, FindsByCoordinatesOfEachRow) {
  const std::string node = R"({"name": "y", "op": "gather_nd", "in": ["x", "ids"], "batch": 1})";
  EXPECT_EQ(indexed("2,2", {1, 2, 0, 1}, node), (std::vector<double>{5, 1}));
  EXPECT_EQ(indexed("1", {1}, node), (std::vector<double>{3, 4, 5}));
}

TEST(TakeAlongAxis, FindsInTheRowOfEachIndex) {
  const std::string last = R"({"name": "y", "op": "take_along_axis", "in": ["x", "ids"]})";
  const std::string middle = R"({"name": "y", "op": "take_along_axis", "in": ["x", "ids"], "axis": 1})";
  EXPECT_EQ(indexed("2,4", {2, 0, 0, 1, 1, 1, 2, 0}, last), (std::vector<double>{2, 0, 0, 1, 4, 4, 5, 3}));
  EXPECT_EQ(indexed("1,3", {1, 0, 1}, middle), (std::vector<double>{3, 1, 5}));
}

TEST(OneHot, IsARowOfZerosWhereThereIsNoClass) {
  EXPECT_EQ(indexed("2", {2, -1}, R"({"name": "y", "op": "one_hot", "in": "ids", "depth": 3})"),
            (std::vector<double>{0, 0, 1, 0, 0, 0}));
}

// Along an axis the axes of the indices stand in its place, as in gather.
TEST(Scatter, CombinesAlongAnAxis) {
  const auto combined = [](const std::string& settings) {
    NamedTensors values;
    values["x"] = tensor({ir::DType::f32, {1, 2, 3}}, [](int64_t i) { return static_cast<double>(i); });
    values["u"] = tensor({ir::DType::f32, {1, 2, 4}}, [](int64_t i) { return static_cast<double>(10 * (i + 1)); });
    values["ids"] =
        tensor({ir::DType::i32, {1, 4}}, [](int64_t i) { return static_cast<double>(i == 3 ? 7 : i % 2 * 2); });
    const std::string inputs =
        R"("x": {"shape": ["N", 2, 3]}, "u": {"shape": ["N", 2, 4]}, "ids": {"shape": ["N", 4], "dtype": "i32"})";
    const std::string nodes = R"({"name": "i", "op": "reshape", "in": "ids", "shape": [4]},
        {"name": "y", "op": "scatter", "in": ["x", "i", "u"], "axis": 2)" +
                              settings + "}";
    return predict(model(inputs, nodes, R"(, "outputs": {"y": "y"})"), values);
  };
  EXPECT_EQ(combined(""), (std::vector<double>{0 + 10 + 30, 1, 2 + 20, 3 + 50 + 70, 4, 5 + 60}));
  EXPECT_EQ(combined(R"(, "combine": "set")"), (std::vector<double>{30, 1, 20, 70, 4, 60}));
  EXPECT_EQ(combined(R"(, "combine": "min")"), (std::vector<double>{0, 1, 2, 3, 4, 5}));
}

TEST(ScatterNd, CombinesAtCoordinatesOfEachRow) {
  NamedTensors values;
  values["x"] = tensor({ir::DType::f32, {1, 2, 3}}, [](int64_t i) { return static_cast<double>(i); });
  values["u"] = tensor({ir::DType::f32, {1, 3}}, [](int64_t i) { return static_cast<double>(10 * (i + 1)); });
  const std::vector<double> ids = {1, 2, 0, 0, 1, 2};
  values["ids"] = tensor({ir::DType::i32, {1, 3, 2}}, [&](int64_t i) { return ids[static_cast<size_t>(i)]; });
  const std::string inputs =
      R"("x": {"shape": ["N", 2, 3]}, "u": {"shape": ["N", 3]}, "ids": {"shape": ["N", 3, 2], "dtype": "i32"})";
  const std::string nodes =
      R"({"name": "y", "op": "scatter_nd", "in": ["x", "ids", "u"], "batch": 1, "combine": "max"})";
  EXPECT_EQ(predict(model(inputs, nodes, R"(, "outputs": {"y": "y"})"), values),
            (std::vector<double>{20, 1, 2, 3, 4, 30}));
}

const std::string kAsReal = R"({"name": "y", "op": "cast", "dtype": "f32"})";

std::vector<double> ordered(const std::string& nodes) {
  NamedTensors values;
  const std::vector<double> x = {3, -1, 3, 7, 0, std::nan("")};
  values["x"] = tensor({ir::DType::f32, {1, 2, 3}}, [&](int64_t i) { return x[static_cast<size_t>(i)]; });
  return predict(model(R"("x": {"shape": ["N", 2, 3]})", nodes, R"(, "outputs": {"y": "y"})"), values);
}

TEST(Sort, PutsNanLastAndKeepsEqualElementsAsTheyStand) {
  const std::vector<double> sorted = ordered(R"({"name": "y", "op": "sort"})");
  EXPECT_EQ(std::vector<double>(sorted.begin(), sorted.end() - 1), (std::vector<double>{-1, 3, 3, 0, 7}));
  EXPECT_TRUE(std::isnan(sorted.back()));
  EXPECT_EQ(ordered(R"({"op": "argsort"}, )" + kAsReal), (std::vector<double>{1, 0, 2, 1, 0, 2}));
  EXPECT_EQ(ordered(R"({"op": "argsort", "descending": true}, )" + kAsReal), (std::vector<double>{0, 2, 1, 2, 0, 1}));
  EXPECT_EQ(ordered(R"({"op": "argsort", "axis": 1}, )" + kAsReal), (std::vector<double>{0, 0, 0, 1, 1, 1}));
}

// The rows 3, -1, 3 and 7, 0, nan.
TEST(Quantile, IsNanWhereAnElementIsNan) {
  const std::vector<double> median = ordered(R"({"name": "y", "op": "quantile", "q": [0.25, 1], "axis": 2})");
  EXPECT_EQ(std::vector<double>(median.begin(), median.begin() + 2), (std::vector<double>{1, 3}));
  EXPECT_TRUE(std::isnan(median[2]) && std::isnan(median[3]));
}

// Values lie in a vector that grows: whatever stands before, the sizes that a layer reads are those of its own values.
TEST(Quantile, OfOneElementBehindAnyNumberOfNodes) {
  std::string before;
  for (int count = 0; count < 40; ++count) {
    const std::string nodes = before + R"({"name": "y", "op": "quantile", "q": [0.1, 0.9], "axis": 1})";
    EXPECT_EQ(ordered(nodes).size(), 6) << count;
    before += R"({"op": "abs"}, )";
  }
}

TEST(SearchSorted, CountsWhatLiesBefore) {
  const std::string five = R"({"op": "searchsorted", "boundaries": [-1, 0, 3, 3, 5], )";
  EXPECT_EQ(ordered(five + R"("side": "left"}, )" + kAsReal), (std::vector<double>{2, 0, 2, 5, 1, 5}));
  EXPECT_EQ(ordered(five + R"("side": "right"}, )" + kAsReal), (std::vector<double>{4, 1, 4, 5, 2, 5}));
  EXPECT_EQ(ordered(R"({"op": "searchsorted", "boundaries": [3]}, )" + kAsReal),
            (std::vector<double>{0, 0, 0, 1, 0, 1}));
}

// Any number of boundaries, of integers: as many as lie before.
TEST(SearchSorted, OfIntegers) {
  for (int64_t count = 1; count <= 20; ++count) {
    NamedTensors values;
    values["x"] = tensor({ir::DType::i32, {1, 50}}, [](int64_t i) { return static_cast<double>(i - 2); });
    const std::string inputs = R"("x": {"shape": ["N", 50], "dtype": "i32"})";
    const std::string nodes =
        fmt::format(R"({{"name": "i", "op": "iota", "size": {}}}, {{"name": "b", "op": "mul", "in": ["i", 2]}},
        {{"op": "searchsorted", "in": {{"x": "x", "boundaries": "b"}}}}, )",
                    count) +
        kAsReal;
    const std::vector<double> found = predict(model(inputs, nodes, R"(, "outputs": {"y": "y"})"), values);
    for (int64_t i = 0; i < 50; ++i)
      EXPECT_EQ(found[static_cast<size_t>(i)], std::clamp<int64_t>((i - 1) / 2, 0, count)) << i << " of " << count;
  }
}

TEST(Histogram, CountsWhatLiesInside) {
  EXPECT_EQ(ordered(R"({"name": "y", "op": "histogram", "bins": 4, "min": -1, "max": 3})"),
            (std::vector<double>{1, 1, 0, 2}));
  EXPECT_EQ(ordered(R"({"name": "y", "op": "histogram", "bins": 1, "min": 0, "max": 7})"), (std::vector<double>{4}));
}

// What these layers compute lies inside: no step looks at it.
TEST(IndexChecks, OfBoundariesAndBinsAreNotNeeded) {
  const auto built =
      build(model(R"("x": {"shape": ["N", 3]})",
                  R"({"name": "w", "op": "param", "shape": [3]}, {"name": "v", "op": "mul", "in": ["x", "w"]},
      {"name": "s", "op": "searchsorted", "boundaries": [0, 1, 2]}, {"name": "h", "op": "histogram", "in": "v", "min": 0, "max": 1, "bins": 3},
      {"name": "n", "op": "cast", "in": "s", "dtype": "f32"}, {"name": "y", "op": "add", "in": ["n", "h"]}, {"name": "z", "op": "add", "in": ["y", "v"]}, {"name": "l", "op": "sum"})",
                  R"(, "outputs": {"y": "y"}, "train": {"batch": {"N": 2}, "steps": 1,
      "loss": {"op": "value", "in": "l"}, "optimizer": "sgd"})"));
  const ir::Graph& g = *built->module.find_graph("train");
  EXPECT_TRUE(std::ranges::none_of(g.order, [&](ir::NodeId id) { return g[id].op->name == "first_outside"; }));
  EXPECT_TRUE(std::ranges::any_of(g.order, [&](ir::NodeId id) { return g[id].op->name == "gather"; }));
}

TEST(TopK, IsTheBeginningOfTheOrder) {
  EXPECT_EQ(
      ordered(R"({"op": "top_k", "k": 2, "out": ["v", "i"]}, {"name": "y", "op": "cast", "in": "i", "dtype": "f32"})"),
      (std::vector<double>{0, 2, 2, 0}));
  EXPECT_EQ(ordered(R"({"op": "top_k", "k": 1, "largest": false, "out": ["y", "i"]})"), (std::vector<double>{-1, 0}));
}

}  // namespace
}  // namespace heddle::frontend
