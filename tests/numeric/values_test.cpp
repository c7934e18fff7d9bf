// Oracles at the points where a definition has to choose: nan, infinities, ties, signs, wrapping, division by zero.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/numeric/harness.h"

namespace heddle::testing {
namespace {

using namespace ir;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN(), kInf = std::numeric_limits<double>::infinity();

// A row of operands and the result expected; every list has one entry per element.
Tensor computed(const std::string& name, DType dtype, const std::vector<std::vector<double>>& operands,
                const Attrs& attrs = {}) {
  Graph g;
  g.name = "values";
  Builder b(g);
  std::vector<Tensor> tensors;
  Values values;
  for (const auto& elements : operands) {
    Tensor t({dtype, {static_cast<int64_t>(elements.size())}});
    for (size_t i = 0; i < elements.size(); ++i) t.set(static_cast<int64_t>(i), elements[i]);
    values.push_back(g.add_input("x" + std::to_string(tensors.size()), t.type, Role::input));
    tensors.push_back(t);
  }
  g.outputs = {b(name, values, attrs)};
  NamedTensors inputs;
  for (size_t i = 0; i < tensors.size(); ++i) inputs["x" + std::to_string(i)] = tensors[i];
  return evaluate({}, g, inputs).outputs[0];
}

void expect_equal(const Tensor& got, const std::vector<double>& expected) {
  ASSERT_EQ(got.elements(), static_cast<int64_t>(expected.size()));
  for (size_t i = 0; i < expected.size(); ++i) {
    const double value = got.at(static_cast<int64_t>(i));
    EXPECT_TRUE(value == expected[i] || (std::isnan(value) && std::isnan(expected[i])))
        << "element " << i << ": " << value << ", not " << expected[i];
  }
}

TEST(Values, MaxAndMinPropagateNan) {
  const std::vector<std::vector<double>> x = {{1, kNan, 2, -kInf}, {kNan, 1, 3, kInf}};
  expect_equal(computed("max", DType::f32, x), {kNan, kNan, 3, kInf});
  expect_equal(computed("min", DType::f32, x), {kNan, kNan, 2, -kInf});
}

TEST(Values, ActivationsKeepNan) {
  for (const char* op :
       {"relu",        "relu6",        "leaky_relu", "elu",      "celu",     "selu", "gelu", "silu", "mish",  "sigmoid",
        "log_sigmoid", "hard_sigmoid", "hard_swish", "softplus", "softsign", "tanh", "erf",  "sign", "clamp", "abs"})
    EXPECT_TRUE(std::isnan(computed(op, DType::f32, {{kNan}}).real[0])) << op;
}

TEST(Values, ActivationsReachTheirLimits) {
  expect_equal(computed("sigmoid", DType::f64, {{-1000, 0, 1000}}), {0, 0.5, 1});
  expect_equal(computed("softplus", DType::f64, {{-1000, 1000}}), {0, 1000});
  expect_equal(computed("log_sigmoid", DType::f64, {{-1000, 1000}}), {-1000, 0});
  expect_equal(computed("mish", DType::f64, {{-1000, 1000}}), {0, 1000});
  expect_equal(computed("gelu", DType::f64, {{-1000, 0, 1000}}), {0, 0, 1000});
  expect_equal(computed("hard_sigmoid", DType::f64, {{-3, 0, 3}}), {0, 0.5, 1});
  expect_equal(computed("hard_swish", DType::f64, {{-3, 0, 3}}), {0, 0, 3});
  expect_equal(computed("relu6", DType::f64, {{-1, 5, 7}}), {0, 5, 6});
}

// The expected numbers are PyTorch's in float64.
TEST(Values, ActivationsMatchPyTorch) {
  const std::vector<std::pair<std::string, double>> at_minus_half = {
      {"gelu", -0.15426876936299344}, {"silu", -0.1887703343990727},        {"elu", -0.3934693402873666},
      {"selu", -0.6917581878028713},  {"softplus", 0.4740769841801067},     {"softsign", -0.3333333333333333},
      {"mish", -0.22074377465173},    {"log_sigmoid", -0.9740769841801067}, {"leaky_relu", -0.005}};
  for (const auto& [op, expected] : at_minus_half)
    EXPECT_NEAR(computed(op, DType::f64, {{-0.5}}).real[0], expected, 1e-15) << op;
}

TEST(Values, RoundTakesHalvesToEven) {
  expect_equal(computed("round", DType::f32, {{-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 2.6, kInf}}),
               {-2, -2, 0, 0, 2, 2, 3, kInf});
}

TEST(Values, SignOfZeroIsZero) { expect_equal(computed("sign", DType::f32, {{-3, 0, 2}}), {-1, 0, 1}); }

TEST(Values, IntegerDivisionTruncates) {
  const std::vector<std::vector<double>> x = {{7, -7, 7, -7, 5, -128}, {2, 2, -2, -2, 0, -1}};
  expect_equal(computed("div", DType::i8, x), {3, -3, -3, 3, -1, -128});
  expect_equal(computed("mod", DType::i8, x), {1, -1, 1, -1, 5, 0});
  expect_equal(computed("div", DType::u8, {{200, 7}, {3, 0}}), {66, 255});
}

TEST(Values, FloatingRemainderHasTheSignOfTheDividend) {
  expect_equal(computed("mod", DType::f64, {{5.5, -5.5, 5.5, 1}, {2, 2, -2, 0}}), {1.5, -1.5, 1.5, kNan});
}

TEST(Values, Unsigned64ComparesAsUnsigned) {
  const double large = 0x1p63;  // its bit pattern is the most negative int64_t
  const std::vector<std::vector<double>> x = {{large, 1}, {1, large}};
  expect_equal(computed("gt", DType::u64, x), {1, 0});
  expect_equal(computed("le", DType::u64, x), {0, 1});
  expect_equal(computed("max", DType::u64, x), {large, large});
  expect_equal(computed("div", DType::u64, {{large}, {2}}), {0x1p62});
}

TEST(Values, ComparisonsWithNan) {
  for (const char* op : {"eq", "lt", "le", "gt", "ge"})
    expect_equal(computed(op, DType::f32, {{kNan, 1}, {1, kNan}}), {0, 0});
  expect_equal(computed("ne", DType::f32, {{kNan}, {kNan}}), {1});
}

TEST(Values, IntegersWrap) {
  expect_equal(computed("add", DType::i8, {{127, -128}, {1, -1}}), {-128, 127});
  expect_equal(computed("mul", DType::u16, {{65535}, {65535}}), {1});
  expect_equal(computed("neg", DType::i32, {{-0x1p31}}), {-0x1p31});
  expect_equal(computed("abs", DType::i8, {{-128, -5}}), {-128, 5});
}

TEST(Values, PowersAtTheEdges) {
  expect_equal(computed("pow", DType::f64, {{0, kNan, 1, -8, -2, 0}, {0, 0, kNan, 1.0 / 3, 3, -1}}),
               {1, 1, 1, kNan, -8, kInf});
  expect_equal(computed("pow", DType::i32, {{2, -1, -1, 3, 0, 3}, {10, -3, -2, -1, -1, 0}}), {1024, -1, 1, 0, 0, 1});
}

TEST(Values, CastsTruncateSaturateAndWrap) {
  const auto cast = [](DType from, const char* to, const std::vector<double>& x) {
    return computed("cast", from, {x}, {{"dtype", to}});
  };
  expect_equal(cast(DType::f32, "i8", {-1.9, 1.9, 300, -300, kNan, kInf}), {-1, 1, 127, -128, 0, 127});
  expect_equal(cast(DType::f32, "u8", {-1, 300, 2.5}), {0, 255, 2});
  expect_equal(cast(DType::f64, "i64", {1e300, -1e300}), {0x1p63, -0x1p63});
  expect_equal(cast(DType::i32, "u8", {257, -1}), {1, 255});
  expect_equal(cast(DType::f32, "bool", {0, 0.5, kNan}), {0, 1, 1});
  expect_equal(cast(DType::u64, "f64", {0x1p63}), {0x1p63});
}

TEST(Values, LogicWorksOnBits) {
  expect_equal(computed("and", DType::i32, {{6}, {3}}), {2});
  expect_equal(computed("xor", DType::boolean, {{1, 1, 0}, {1, 0, 0}}), {0, 1, 0});
  expect_equal(computed("not", DType::u8, {{5}}), {250});
  expect_equal(computed("not", DType::boolean, {{0, 1}}), {1, 0});
}

TEST(Values, RoundingToNarrowDtypes) {
  EXPECT_EQ(round_to(DType::bf16, 1.00390625), 1.0);       // 1 + 2^-8, half way: to the even 1
  EXPECT_EQ(round_to(DType::bf16, 1.01171875), 1.015625);  // 1 + 3 * 2^-8, half way: to the even 1 + 2^-6
  EXPECT_EQ(round_to(DType::f16, 65519), 65504);
  EXPECT_EQ(round_to(DType::f16, 65520), kInf);
  EXPECT_EQ(round_to(DType::f16, 0x1p-25), 0);  // half of the smallest subnormal: to even
  EXPECT_EQ(round_to(DType::f16, 0x1.8p-25), 0x1p-24);
  EXPECT_EQ(round_to(DType::f32, 16777217), 16777216);
  EXPECT_EQ(wrap_to(DType::i8, 200), -56);
}

// The generator's published known answers for 7 rounds: word 0 of counter and key all zeros is 5f6fb709.
TEST(Values, PhiloxMatchesItsKnownAnswers) {
  Graph g;
  Builder b(g);
  const ValueId zero = b.constant(0, {DType::i64, {}});
  g.outputs = {b("random_uniform", {zero, zero}, {{"stream", int64_t{0}}, {"shape", Dims{4}}})};
  const Tensor u = evaluate({}, g, {}).outputs[0];
  const std::vector<uint32_t> words = {0x5f6fb709, 0x0d893f64, 0x4f121f81, 0x4f730a48};
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(u.real[i], std::ldexp(static_cast<double>(words[i] >> 8), -24)) << i;
}

TEST(Values, NormalNumbersHaveTheirMoments) {
  Graph g;
  Builder b(g);
  const ValueId seed = b.constant(17, {DType::i64, {}});
  g.outputs = {b("random_normal", {seed, seed}, {{"stream", int64_t{5}}, {"shape", Dims{40000}}})};
  const Tensor x = evaluate({}, g, {}).outputs[0];
  double mean = 0, square = 0, fourth = 0;
  for (const double v : x.real) {
    mean += v / 40000;
    square += v * v / 40000;
    fourth += v * v * v * v / 40000;
  }
  EXPECT_NEAR(mean, 0, 0.02);    // four standard errors: 4 / sqrt(40000)
  EXPECT_NEAR(square, 1, 0.03);  // 4 sqrt(2 / 40000)
  EXPECT_NEAR(fourth, 3, 0.2);   // 4 sqrt(96 / 40000)
}

}  // namespace
}  // namespace heddle::testing
