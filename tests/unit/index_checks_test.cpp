// Which indices a step has to look at, and what is said of them.
#include "frontend/training/index_checks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "frontend/training/training_plan.h"
#include "ir/op_def.h"
#include "tests/unit/built_model.h"

namespace heddle::frontend {
namespace {

using ir::NamedTensors;
using Lines = std::vector<std::string>;

// A model whose last node is %y: x f32[N,4,3], i i32[N,2], k i32[N,2,2], and the parameter p f32[3,4].
std::unique_ptr<Built> of_nodes(const std::string& nodes) {
  return build(model(R"("x": {"shape": ["N", 4, 3]}, "i": {"shape": ["N", 2], "dtype": "i32"},
      "k": {"shape": ["N", 2, 2], "dtype": "i32"})",
                     R"({"name": "p", "op": "param", "shape": [3, 4]}, )" + nodes,
                     R"(, "outputs": {"out": "y"}, "train": {"batch": {"N": 5}})"));
}

// "gather 'y' 'j' 3 2": reader, indices, how many places there are, indices of a row. Of those that
// have to be looked at.
Lines checks(const std::string& nodes) {
  const auto built = of_nodes(nodes);
  Diagnostics errors;
  const Instance e = instantiate_model(built->model, {.batch = 5}, errors),
                 twice = instantiate_model(built->model, {.batch = 10}, errors);
  const std::vector<IndexCheck> all = index_checks(e, errors);
  errors.throw_if_any();
  const std::vector<CheckedIndices> described = describe(all, e, &twice);
  EXPECT_EQ(plan_training(built->model).indices.size(), all.size()) << nodes;
  Lines lines;
  for (size_t i = 0; i < all.size(); ++i) {
    const CheckedIndices& c = described.at(i);
    if (!all[i].known) lines.push_back(fmt::format("{} {} {} {}", c.reader, c.indices, c.below, c.of_row));
  }
  const ir::Graph& predict = *built->module.find_graph("predict");
  const ir::ValueId outside = predict.find("step.outside");
  EXPECT_EQ(outside.valid(), !lines.empty()) << nodes;
  if (outside.valid()) {
    EXPECT_EQ(predict[outside].type, (ir::Type{ir::DType::i64, {std::ssize(all), 2}})) << nodes;
    EXPECT_EQ(predict.outputs.back(), outside) << nodes;
  }
  return lines;
}

const std::string kComputed = R"({"name": "j", "op": "add", "in": ["i", 0]}, )";

TEST(IndexChecks, AreOfWhatIsComputed) {
  EXPECT_EQ(checks(R"({"name": "y", "op": "gather", "in": ["p", "i"]})"), Lines{});
  EXPECT_EQ(checks(kComputed + R"({"name": "y", "op": "gather", "in": ["p", "j"]})"), Lines{"gather 'y' 'j' 3 2"});
  EXPECT_EQ(checks(kComputed + R"({"name": "y", "op": "gather", "in": ["p", "j"], "axis": 1})"),
            Lines{"gather 'y' 'j' 4 2"});
  EXPECT_EQ(checks(kComputed + R"({"name": "y", "op": "embedding", "in": "j", "vocab": 9, "units": 2})"),
            Lines{"embedding 'y' 'j' 9 2"});
  EXPECT_EQ(checks(R"({"name": "j", "op": "slice", "in": "i", "start": 0, "stop": 1, "axis": 1},
      {"name": "y", "op": "gather", "in": ["p", "j"]})"),
            Lines{"gather 'y' 'j' 3 1"});
}

// A type may have no number beyond the last place; below the first all signed ones have.
TEST(IndexChecks, FollowTheTypeOfIndices) {
  const auto of = [](const std::string& dtype, int vocab) {
    return checks(fmt::format(R"({{"name": "j", "op": "cast", "in": "i", "dtype": "{}"}},
        {{"name": "y", "op": "embedding", "in": "j", "vocab": {}, "units": 2}})",
                              dtype, vocab));
  };
  EXPECT_EQ(of("u8", 255), Lines{"embedding 'y' 'j' 255 2"});
  EXPECT_EQ(of("u8", 256), Lines{});
  EXPECT_EQ(of("i8", 300), Lines{"embedding 'y' 'j' 300 2"});
}

// Through the reshapes and transposes of layers, and where they write.
TEST(IndexChecks, AreOfLayersThatTurnThem) {
  EXPECT_EQ(checks(R"({"name": "j", "op": "argmax", "in": "x", "axis": 1}, {"name": "s", "op": "add", "in": ["j", 1]},
      {"name": "r", "op": "reshape", "in": "s", "shape": ["N", 1, 3]}, {"name": "y", "op": "take_along_axis", "in": ["x", "r"], "axis": 1})"),
            Lines{"take_along_axis 'y' 's' 4 3"});
  EXPECT_EQ(checks(kComputed +
                   R"({"name": "u", "op": "cast", "in": "j", "dtype": "f32"},
      {"name": "q", "op": "param", "shape": [7]}, {"name": "w", "op": "scatter", "in": ["q", "j", "u"]}, {"name": "y", "op": "add", "in": ["w", 1]})"),
            Lines{"scatter 'w' 'j' 7 2"});
}

// Each coordinate by itself, of inputs, too: as they are read, no more is known of them than the longest axis.
TEST(IndexChecks, AreOfEachCoordinate) {
  const std::string shifted = R"({"name": "c", "op": "add", "in": ["k", 0]}, )";
  EXPECT_EQ(checks(shifted + R"({"name": "y", "op": "gather_nd", "in": ["p", "c"]})"),
            (Lines{"gather_nd 'y' coordinate 0 of 'c' 3 2", "gather_nd 'y' coordinate 1 of 'c' 4 2"}));
  EXPECT_EQ(checks(R"({"name": "y", "op": "gather_nd", "in": ["p", "k"]})"),
            Lines{"gather_nd 'y' coordinate 0 of 'k' 3 2"});
  EXPECT_EQ(
      checks(shifted +
             R"({"name": "q", "op": "param", "shape": [6, 6, 2]}, {"name": "y", "op": "gather_nd", "in": ["q", "c"]})"),
      (Lines{"gather_nd 'y' coordinate 0 of 'c' 6 2", "gather_nd 'y' coordinate 1 of 'c' 6 2"}));
}

// What finds places finds them along an axis, and movements keep them inside.
TEST(IndexChecks, AreNotOfPlacesThatWereFound) {
  EXPECT_EQ(
      checks(R"({"name": "j", "op": "argmax", "in": "x", "axis": 2}, {"name": "y", "op": "gather", "in": ["p", "j"]})"),
      Lines{});
  EXPECT_EQ(
      checks(R"({"name": "j", "op": "argmax", "in": "x", "axis": 1}, {"name": "y", "op": "gather", "in": ["p", "j"]})"),
      Lines{"gather 'y' 'j' 3 3"});  // one of four places, among three
  EXPECT_EQ(
      checks(
          R"({"name": "j", "op": "argsort", "in": "x", "axis": 1}, {"name": "s", "op": "slice", "in": "j", "start": 0, "stop": 2, "axis": 1},
      {"name": "y", "op": "take_along_axis", "in": ["x", "s"], "axis": 1})"),
      Lines{});
  EXPECT_EQ(
      checks(
          R"({"op": "top_k", "in": "x", "k": 2, "out": ["v", "j"]}, {"name": "y", "op": "take_along_axis", "in": ["x", "j"]})"),
      Lines{});
  EXPECT_EQ(
      checks(
          R"({"name": "j", "op": "argmax", "in": "x", "axis": 2}, {"name": "b", "op": "pad", "in": "j", "low": [0, 1], "high": [0, 0], "fill": -1},
      {"name": "y", "op": "gather", "in": ["p", "b"]})"),
      Lines{"gather 'y' 'b' 3 5"});
}

// What depends on nothing is known before anything runs.
TEST(IndexChecks, RefuseConstantsAtOnce) {
  const std::string three = R"({"name": "j", "op": "iota", "size": 3}, )";
  EXPECT_EQ(
      checks(three + R"({"name": "g", "op": "gather", "in": ["p", "j"]}, {"name": "y", "op": "mul", "in": ["g", 2]})"),
      Lines{});
  try {
    checks(
        three +
        R"({"name": "h", "op": "add", "in": ["j", 1]}, {"name": "g", "op": "gather", "in": ["p", "h"]}, {"name": "y", "op": "mul", "in": ["g", 2]})");
    FAIL() << "no error";
  } catch (const UserError& error) {
    EXPECT_EQ(error.diagnostics().at(0).message, "gather 'g': index 3 is outside of the 3 places along its axis");
  }
}

// Indices of parameters are no rows, though there be as many as rows of a batch.
TEST(IndexChecks, KnowWhichAreOfRows) {
  EXPECT_EQ(
      checks(R"({"name": "q", "op": "param", "shape": [5]}, {"name": "j", "op": "cast", "in": "q", "dtype": "i32"},
      {"name": "g", "op": "gather", "in": ["p", "j"]}, {"name": "y", "op": "mul", "in": ["g", 2]})"),
      Lines{"gather 'g' 'j' 3 0"});
}

// Nor are columns, though there be as many as rows.
TEST(IndexChecks, TakeNoColumnsForRows) {
  const std::string five = R"({"name": "c", "op": "concat", "in": ["i", "i", "i"], "axis": 1},
      {"name": "s", "op": "slice", "in": "c", "stop": 5, "axis": 1}, {"name": "t", "op": "transpose", "in": "s", "perm": [1, 0]},
      {"name": "j", "op": "add", "in": ["t", 0]}, {"name": "g", "op": "gather", "in": ["p", "j"]}, )";
  EXPECT_EQ(checks(five + R"({"name": "y", "op": "transpose", "in": "g", "perm": [1, 0, 2]})"),
            Lines{"gather 'g' 'j' 3 0"});
}

// What is random in training is its mean elsewhere, a constant; how many places there are may
// depend on the batch. The numbers stay.
TEST(IndexChecks, AreNumberedAlike) {
  const auto built = build(
      model(R"("i": {"shape": ["N", 2], "dtype": "i32"})",
            R"({"name": "p", "op": "param", "shape": [3]}, {"name": "r", "op": "random_uniform", "shape": ["N", 2]},
      {"name": "s", "op": "mul", "in": ["r", 4.0]}, {"name": "k", "op": "cast", "in": "s", "dtype": "i32"}, {"name": "g", "op": "gather", "in": ["p", "k"]},
      {"name": "j", "op": "add", "in": ["i", 0]}, {"name": "h", "op": "gather", "in": ["p", "j"]}, {"name": "y", "op": "mul", "in": ["g", "h"]},
      {"name": "l", "op": "mean"})",
            R"(, "outputs": {"out": "y"}, "train": {"batch": {"N": 5}, "steps": 1, "optimizer": "sgd",
      "loss": {"op": "value", "in": "l"}})"));
  const TrainingPlan plan = plan_training(built->model);
  ASSERT_EQ(plan.indices.size(), 2U);
  EXPECT_EQ(plan.indices[0].indices, "'k'");
  EXPECT_EQ(plan.indices[0].of_row, 2);
  EXPECT_EQ(plan.indices[1].indices, "'j'");
  for (const char* name : {"train", "eval", "predict"}) {
    const ir::Graph& g = *built->module.find_graph(name);
    EXPECT_EQ(g[g.find("step.outside")].type.dims, (ir::Dims{2, 2})) << name;
    const auto looks = std::ranges::count_if(g.order, [&](ir::NodeId n) { return g[n].op->name == "first_outside"; });
    EXPECT_EQ(looks, name == std::string("train") ? 2 : 1) << name;
  }
}

// An axis of what is computed may be that of the batch. The last batch of an epoch may have fewer
// places than the file was asked for, so that inputs are looked at there, too; and the bound is
// told of the batch at hand.
TEST(IndexChecks, FollowTheBatch) {
  const std::string summed = R"({"name": "s", "op": "sum", "in": "x", "axis": 2}, )";
  EXPECT_EQ(checks(summed + R"({"name": "y", "op": "gather", "in": ["s", "i"]})").size(), 1U);
  const auto built = of_nodes(summed + kComputed + R"({"name": "y", "op": "gather_nd", "in": ["s", "j"]})");
  const TrainingPlan plan = plan_training(built->model);
  ASSERT_EQ(plan.indices.size(), 2U);
  const auto said = [&](size_t check, int64_t batch) {
    return index_error(plan.indices[check], {.check = check, .place = 0, .index = 9}, "row 7", batch)
        .diagnostics()
        .at(0);
  };
  EXPECT_EQ(said(0, 5).message,
            "gather_nd 'y': coordinate 0 of 'j' holds 9 in row 7, counted from 0: expected 0 ... 4");
  EXPECT_EQ(said(0, 64).message,
            "gather_nd 'y': coordinate 0 of 'j' holds 9 in row 7, counted from 0: expected 0 ... 63");
  EXPECT_EQ(said(1, 64).message,
            "gather_nd 'y': coordinate 1 of 'j' holds 9 in row 7, counted from 0: expected 0 ... 3");
  EXPECT_EQ(said(0, 2).help, "that axis grows with the rows of a batch, and the last batch of an epoch may have fewer");
  EXPECT_EQ(said(1, 2).help, R"({"op": "clamp", "low": 0, "high": 3} keeps what is computed inside)");
}

// A row of the result for each check, dead ones too: the numbers of all entries are alike.
TEST(IndexChecks, SayTheFirstThatIsOutside) {
  const auto built = of_nodes(
      kComputed + R"({"name": "unused", "op": "gather", "in": ["p", "j"]}, {"name": "h", "op": "sub", "in": ["i", 1]},
      {"name": "y", "op": "gather", "in": ["p", "h"]})");
  NamedTensors values;
  values["p"] = tensor({ir::DType::f32, {3, 4}}, [](int64_t i) { return static_cast<double>(i); });
  const std::vector<int64_t> ids = {1, 3, 2, 2, 1, 9, 0, 1, 1, 1};
  values["i"] =
      tensor({ir::DType::i32, {5, 2}}, [&](int64_t i) { return static_cast<double>(ids[static_cast<size_t>(i)]); });
  const ir::Graph& g = *built->module.find_graph("predict");
  EXPECT_EQ(ir::evaluate(built->module, g, values).outputs.back().integer, (std::vector<int64_t>{-1, -1, 5, 8}));
  values["i"].integer = {1, 3, 0, 2, 1, 9, 0, 1, 1, 1};
  EXPECT_EQ(ir::evaluate(built->module, g, values).outputs.back().integer, (std::vector<int64_t>{-1, -1, 2, -1}));
  values["i"].integer = std::vector<int64_t>(10, 1);
  EXPECT_EQ(ir::evaluate(built->module, g, values).outputs.back().integer, (std::vector<int64_t>{-1, -1, -1, 0}));
}

}  // namespace
}  // namespace heddle::frontend
