// Gradients at ties, zeros and limits, which no random sample meets.
#include <gtest/gtest.h>

#include "ir/builder.h"
#include "ir/evaluate/evaluate.h"
#include "passes/differentiate.h"
#include "tests/unit/built_model.h"

namespace heddle::passes {
namespace {

using namespace ir;

// The derivative of the sum of the operator's first result by operand `by`.
std::vector<double> gradient(const std::string& op, const std::vector<Dims>& shapes,
                             const std::vector<std::vector<double>>& operands, const Attrs& attrs = {}, size_t by = 0) {
  Module m;
  Graph& g = m.graphs.emplace_back();
  Builder b(g);
  Values inputs;
  NamedTensors values;
  for (size_t i = 0; i < shapes.size(); ++i) {
    const Type type{DType::f32, shapes[i]};
    inputs.push_back(g.add_input("x" + std::to_string(i), type, Role::input));
    Tensor t(type);
    t.real = operands[i];
    values[g[inputs[i]].name] = t;
  }
  const ValueId sum = b("reduce_sum", {b.multi(op, inputs, attrs)[0]});
  g.outputs = {b("gradient", {sum, inputs[by]})};
  differentiate(m, {});
  return evaluate(m, g, values).outputs[0].real;
}

using Row = std::vector<double>;

TEST(GradientEdges, EqualOperandsShareIt) {
  for (const char* op : {"max", "min"})
    for (const size_t by : {size_t{0}, size_t{1}})
      EXPECT_EQ(gradient(op, {{1}, {1}}, {{2}, {2}}, {}, by), Row{0.5}) << op << " by operand " << by;
}

TEST(GradientEdges, TheFirstOfEqualExtremaTakesIt) {
  EXPECT_EQ(gradient("reduce_max", {{5}}, {{1, 3, 3, 2, 3}}), (Row{0, 1, 0, 0, 0}));
  EXPECT_EQ(gradient("reduce_min", {{4}}, {{2, 1, 1, 2}}), (Row{0, 1, 0, 0}));
  EXPECT_EQ(gradient("max_pool2d", {{1, 2, 2, 1}}, {{7, 9, 9, 9}}, {{"window", Dims{2, 2}}}), (Row{0, 1, 0, 0}));
}

// As in PyTorch, where x counts as itself above 0 only: the slope at 0 is the weight.
TEST(GradientEdges, PreluAtZero) {
  frontend::Training training(frontend::model(
      R"("z": {"shape": ["N"]})",
      R"({"name": "p", "op": "param", "shape": [3], "init": "zeros"}, {"name": "x", "op": "add", "in": ["z", "p"]},
                         {"name": "l", "op": "prelu"}, {"name": "s", "op": "sum"})",
      R"(, "train": {"batch": {"N": 3}, "loss": {"op": "value", "in": "s"}, "optimizer": {"op": "sgd", "lr": 1}})"));
  training.states["l.weight"].real = {0.25};
  ir::Tensor z({DType::f32, {3}});
  z.real = {0, 1, -1};
  training.step({{"z", z}});
  EXPECT_EQ(training.states["p"].real, (Row{-0.25, -1, -0.25}));
}

// Each element's is the product of the others.
TEST(GradientEdges, ProductsWithZeros) {
  EXPECT_EQ(gradient("reduce_prod", {{3}}, {{2, 0, 3}}), (Row{0, 6, 0}));
  EXPECT_EQ(gradient("reduce_prod", {{3}}, {{0, 0, 3}}), (Row{0, 0, 0}));
}

// PyTorch 2.15's numbers in float64: zeros are no divisors, and of equal extrema the last takes the gradient.
TEST(GradientEdges, PrefixesAsInPyTorch) {
  EXPECT_EQ(gradient("cumprod", {{5}}, {{2, 0, 3, 0, 5}}), (Row{1, 8, 0, 0, 0}));
  EXPECT_EQ(gradient("cumprod", {{3}}, {{0, 2, 3}}), (Row{9, 0, 0}));
  EXPECT_EQ(gradient("cumprod", {{4}}, {{2, 3, -1.5, 4}}), (Row{-18.5, -13, 30, -9}));
  EXPECT_EQ(gradient("cummax", {{6}}, {{1, 3, 3, 2, 5, 4}}), (Row{1, 1, 2, 0, 2, 0}));
  EXPECT_EQ(gradient("cummin", {{5}}, {{4, 2, 2, 3, 1}}), (Row{1, 1, 2, 0, 1}));
  EXPECT_EQ(gradient("cumsum", {{3}}, {{1, 3, 3}}), (Row{3, 2, 1}));
}

// By hand: of [0, 2, 3] without the element itself the prefixes are 1, 0, 0, and from the end 6, 3, 1.
TEST(GradientEdges, ExclusiveProducts) {
  EXPECT_EQ(gradient("cumprod", {{3}}, {{0, 2, 3}}, {{"exclusive", true}}), (Row{3, 0, 0}));
  EXPECT_EQ(gradient("cumprod", {{3}}, {{0, 2, 3}}, {{"exclusive", true}, {"reverse", true}}), (Row{0, 3, 3}));
}

// Constant in a where b is 0, constant in b where a is 0: neither is 0 * inf.
TEST(GradientEdges, PowersOfZero) {
  EXPECT_EQ(gradient("pow", {{3}, {3}}, {{0, 0, 2}, {0, 2, 0}}), (Row{0, 0, 0}));
  EXPECT_EQ(gradient("pow", {{1}, {1}}, {{0}, {2}}, {}, 1), Row{0});
}

// PyTorch 2.15's numbers in float64 (torch.autograd.grad of the function of that name).
TEST(GradientEdges, FunctionsAsInPyTorch) {
  const auto near = [](const std::string& op, const Row& x, const Row& expected) {
    const Row got = gradient(op, {{std::ssize(x)}}, {x});
    for (size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(got[i], expected[i], 1e-14) << op << " at " << x[i];
  };
  near("asin", {0.3, -0.7}, {1.0482848367219182, 1.4002800840280099});
  near("acos", {0.3, -0.7}, {-1.0482848367219182, -1.4002800840280099});
  near("atan", {0.3, -0.7}, {0.9174311926605504, 0.6711409395973155});
  near("sinh", {0.3, -0.7}, {1.0453385141288605, 1.255169005630943});
  near("cosh", {0.3, -0.7}, {0.3045202934471426, -0.7585837018395334});
  near("asinh", {0.3, -0.7}, {0.9578262852211513, 0.8192319205190405});
  near("atanh", {0.3, -0.7}, {1.0989010989010988, 1.9607843137254901});
  near("erfc", {0.3, -0.7}, {-1.031260909618963, -0.6912748604105386});
  near("erf_inv", {0.3, -0.7}, {0.9545203588405493, 1.5163632173337642});
  near("acosh", {1.7, 3.2}, {0.7273929674533081, 0.32897584747988445});
  const Row a{1.7, -3.2}, b{-0.4, 0.9};
  const Row da = gradient("atan2", {{2}, {2}}, {a, b}), db = gradient("atan2", {{2}, {2}}, {a, b}, {}, 1);
  EXPECT_NEAR(da[0], -0.13114754098360656, 1e-14);
  EXPECT_NEAR(da[1], 0.08144796380090497, 1e-14);
  EXPECT_NEAR(db[0], -0.5573770491803279, 1e-14);
  EXPECT_NEAR(db[1], 0.28959276018099545, 1e-14);
}

TEST(GradientEdges, KinksAsInPyTorch) {
  EXPECT_EQ(gradient("relu", {{1}}, {{0}}), Row{0});
  EXPECT_EQ(gradient("relu6", {{2}}, {{0, 6}}), (Row{0, 0}));
  EXPECT_EQ(gradient("leaky_relu", {{1}}, {{0}}, {{"slope", 0.25}}), Row{0.25});
  EXPECT_EQ(gradient("abs", {{1}}, {{0}}), Row{0});
}

TEST(GradientEdges, LimitsOfAClampPassNone) {
  EXPECT_EQ(gradient("clamp", {{5}}, {{-1, 2, -1.5, 2.5, 0.5}}, {{"low", -1.0}, {"high", 2.0}}), (Row{0, 0, 0, 0, 1}));
}

// One element has no neighbour, however long the stride; two have a gap between them.
TEST(GradientEdges, SlicesWithLongStrides) {
  const auto sliced = [](const Dims& limits, int64_t stride) {
    return gradient("slice", {{5}}, {{1, 2, 3, 4, 5}},
                    {{"starts", Dims{1}}, {"limits", limits}, {"strides", Dims{stride}}});
  };
  EXPECT_EQ(sliced({5}, int64_t{1} << 41), (Row{0, 1, 0, 0, 0}));
  EXPECT_EQ(sliced({5}, 3), (Row{0, 1, 0, 0, 1}));
}

}  // namespace
}  // namespace heddle::passes
