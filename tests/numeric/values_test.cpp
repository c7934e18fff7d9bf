// Oracles at the points where a definition has to choose: nan, infinities, ties, signs, wrapping, division by zero.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

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

// Values of the formulas in the operators' documentation, by mpmath with 40 digits or more: they share no constant with
// an oracle, a gradient or a kernel.
using Published = std::vector<std::pair<std::string, std::vector<double>>>;

void expect_published(const Published& table, const std::vector<double>& points) {
  for (const auto& [op, expected] : table) {
    const Tensor got = computed(op, DType::f64, {points});
    for (size_t i = 0; i < points.size(); ++i)
      EXPECT_NEAR(got.real[i], expected[i], 2e-13 * std::abs(expected[i])) << op << " at " << points[i];
  }
}

// clang-format off
const std::vector<double> kAnywhere = {-20, -3.5, -0.5, 0.25, 2};
const Published kPublished = {
      {"asinh", {-3.6895038689889056, -1.9657204716496515, -0.48121182505960345, 0.24746646154726345, 1.4436354751788103}},
      {"atan", {-1.5208379310729539, -1.2924966677897853, -0.46364760900080612, 0.24497866312686415, 1.1071487177940905}},
      {"cbrt", {-2.7144176165949066, -1.5182944859378313, -0.79370052598409974, 0.62996052494743658, 1.2599210498948732}},
      {"celu", {-0.99999999793884638, -0.9698026165776815, -0.39346934028736658, 0.25, 2.0}},
      {"cos", {0.40808206181339199, -0.93645668729079634, 0.87758256189037272, 0.96891242171064478, -0.41614683654714239}},
      {"cosh", {242582597.70489514, 16.572824671057316, 1.1276259652063808, 1.0314130998795732, 3.7621956910836315}},
      {"elu", {-0.99999999793884638, -0.9698026165776815, -0.39346934028736658, 0.25, 2.0}},
      {"erf", {-1.0, -0.99999925690162766, -0.52049987781304654, 0.27632639016823693, 0.99532226501895273}},
      {"erfc", {2.0, 1.9999992569016277, 1.5204998778130465, 0.72367360983176307, 0.0046777349810472658}},
      {"exp", {2.0611536224385578e-9, 0.030197383422318501, 0.60653065971263342, 1.2840254166877415, 7.3890560989306502}},
      {"expm1", {-0.99999999793884638, -0.9698026165776815, -0.39346934028736658, 0.28402541668774148, 6.3890560989306502}},
      {"gelu", {-5.5072482372124674e-88, -0.00081420177662433763, -0.15426876936299345, 0.14967658142073093, 1.9544997361036416}},
      {"gelu_tanh", {-3.3754509563109673e-261, -0.00061619765537366331, -0.15428599017485608, 0.149675350701685, 1.954597694087775}},
      {"hard_sigmoid", {0, 0, 0.41666666666666667, 0.54166666666666667, 0.83333333333333333}},
      {"hard_swish", {0.0, 0.0, -0.20833333333333333, 0.13541666666666667, 1.6666666666666667}},
      {"leaky_relu", {-0.2, -0.035000000000000001, -0.0050000000000000001, 0.25, 2.0}},
      {"log_sigmoid", {-20.000000002061154, -3.5297504182726206, -0.97407698418010668, -0.57593941987884356, -0.1269280110429725}},
      {"mish", {-4.1223072406287614e-8, -0.10409575448637122, -0.22074377465173, 0.16957240966381759, 1.9439589595339945}},
      {"selu", {-1.758099337223664, -1.7050093409572831, -0.69175818780287137, 0.26267524683887012, 2.101401974710961}},
      {"sigmoid", {2.0611536181902036e-9, 0.029312230751356319, 0.37754066879814544, 0.5621765008857981, 0.88079707797788244}},
      {"silu", {-4.1223072363804072e-8, -0.10259280762974712, -0.18877033439907272, 0.14054412522144953, 1.7615941559557649}},
      {"sin", {-0.91294525072762765, 0.35078322768961985, -0.479425538604203, 0.24740395925452293, 0.9092974268256817}},
      {"sinh", {-242582597.70489514, -16.542627287634998, -0.52109530549374736, 0.25261231680816831, 3.6268604078470188}},
      {"softplus", {2.0611536203143807e-9, 0.029750418272620565, 0.47407698418010668, 0.82593941987884356, 2.1269280110429725}},
      {"softsign", {-0.95238095238095238, -0.77777777777777778, -0.33333333333333333, 0.2, 0.66666666666666667}},
      {"tan", {-2.2371609442247423, -0.37458564015859467, -0.54630248984379051, 0.25534192122103627, -2.185039863261519}},
      {"tanh", {-0.99999999999999999, -0.99817789761119871, -0.46211715726000976, 0.24491866240370913, 0.96402758007581688}}};
const std::vector<double> kPositive = {0.25, 0.5, 2, 3.5, 20};
const Published kPublishedOfPositive = {
      {"digamma", {-4.2274535333762654, -1.9635100260214235, 0.42278433509846714, 1.1031566406452432, 2.9705239922421491}},
      {"lgamma", {1.2880225246980775, 0.57236494292470009, 0.0, 1.2009736023470742, 39.339884187199494}},
      {"log", {-1.3862943611198906, -0.69314718055994531, 0.69314718055994531, 1.252762968495368, 2.995732273553991}},
      {"log1p", {0.22314355131420976, 0.40546510810816438, 1.0986122886681097, 1.5040773967762741, 3.044522437723423}},
      {"reciprocal", {4.0, 2.0, 0.5, 0.28571428571428571, 0.05}},
      {"rsqrt", {2.0, 1.414213562373095, 0.70710678118654752, 0.53452248382484877, 0.22360679774997897}},
      {"sqrt", {0.5, 0.70710678118654752, 1.414213562373095, 1.8708286933869707, 4.4721359549995794}},
      {"trigamma", {17.197329154507111, 4.9348022005446793, 0.64493406684822644, 0.33035775610023486, 0.051270822935203120}}};
const std::vector<double> kNegative = {-20.5, -3.75, -0.5};
const Published kPublishedOfNegative = {
      {"digamma", {3.0446168825125246, -1.6923885983113303, 0.036489973978576521}},
      {"lgamma", {-42.70719597482576, -1.3172679424463637, 1.2655121234846454}},
      {"trigamma", {9.8219943446498795, 19.504980060599575, 8.9348022005446793}}};
const std::vector<double> kBelowOne = {-0.9999, -0.6, -1e-9, 0.25, 0.96875};
const Published kPublishedBelowOne = {
      {"acos", {3.1274504001122811, 2.214297435588181, 1.5707963277948966, 1.318116071652818, 0.25065566233613079}},
      {"asin", {-1.5566540733173845, -0.64350110879328436, -1.0000000000000001e-9, 0.25268025514207865, 1.3201406644587658}},
      {"atanh", {-4.9517187756430983, -0.69314718055994527, -1.0000000000000001e-9, 0.25541281188299534, 2.0715673631957663}},
      {"erf_inv", {-2.7510639057120797, -0.59511608144999482, -8.8622692545275807e-10, 0.2253120550121781, 1.5230194019969561}}};
const std::vector<double> kAboveOne = {1.0625, 1.5, 2, 100};
const Published kPublishedAboveOne = {
      {"acosh", {0.35173739004326058, 0.96242365011920689, 1.3169578969248167, 5.2982923656104846}}};
// clang-format on

TEST(Values, FunctionsHaveTheirPublishedValues) {
  expect_published(kPublished, kAnywhere);
  expect_published(kPublishedOfPositive, kPositive);
  expect_published(kPublishedOfNegative, kNegative);
  expect_published(kPublishedBelowOne, kBelowOne);
  expect_published(kPublishedAboveOne, kAboveOne);
}

// A function without a row could have one wrong constant in its oracle, gradient and kernel alike.
TEST(Values, EveryFunctionHasPublishedValues) {
  std::set<std::string> known = {"abs",  "cast",   "ceil",         "clamp", "clip_gradient", "floor", "is_nan",
                                 "neg",  "not",    "popcnt",       "relu",  "relu6",         "round", "scale_gradient",
                                 "sign", "square", "stop_gradient"};  // exact: other tests say all
  for (const Published* table : {&kPublished, &kPublishedOfPositive, &kPublishedBelowOne, &kPublishedAboveOne})
    for (const auto& [op, values] : *table) known.insert(op);
  for (const OpDef* op : all_ops()) {
    const bool function = std::holds_alternative<Elementwise>(op->kind) && op->operands.size() == 1;
    EXPECT_TRUE(!function || known.count(op->name) == 1) << op->name;
  }
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

TEST(Values, ExtremaOfEveryInteger) {
  const double large = 0x1p63;
  expect_equal(computed("reduce_max", DType::u64, {{large, 1}}), {large});
  expect_equal(computed("reduce_min", DType::u64, {{large, large}}), {large});
  expect_equal(computed("argmax", DType::u64, {{1, large}}, {{"axis", int64_t{0}}}), {1});
  expect_equal(computed("argmin", DType::u64, {{large, 1}}, {{"axis", int64_t{0}}}), {1});
  expect_equal(computed("reduce_max", DType::i32, {{-0x1p31, -0x1p31}}), {-0x1p31});
  expect_equal(computed("argmax", DType::i64, {{-0x1p63, -0x1p63}}, {{"axis", int64_t{0}}}), {0});
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

TEST(Values, SpecialFunctionsAtTheEdges) {
  expect_equal(computed("atan2", DType::f64, {{0, -0.0, 0, 1, -1, kNan}, {1, 1, -1, 0, 0, 1}}),
               {0, -0.0, 3.14159265358979324, 1.57079632679489662, -1.57079632679489662, kNan});
  expect_equal(computed("erf_inv", DType::f64, {{-1, 1, 1.5, kNan, 0}}), {-kInf, kInf, kNan, kNan, 0});
  expect_equal(computed("lgamma", DType::f64, {{0, -3, kInf, 1}}), {kInf, kInf, kInf, 0});
  expect_equal(computed("digamma", DType::f64, {{0, -0.0, -3, kInf, -kInf}}), {-kInf, kInf, kNan, kInf, kNan});
  expect_equal(computed("trigamma", DType::f64, {{0, -0.0, -3, kInf, -kInf}}), {kInf, kInf, kInf, 0, kNan});
  expect_equal(computed("acosh", DType::f64, {{0.5, 1}}), {kNan, 0});
  expect_equal(computed("atanh", DType::f64, {{-1, 1, 2}}), {-kInf, kInf, kNan});
}

// As StableHLO's interpreter: every bit goes where the distance is not below the number of bits.
TEST(Values, ShiftsByTooMuch) {
  const std::vector<std::vector<double>> x = {{3, -128, -128, -128, 5, -7}, {6, 7, 8, -1, 0, 1}};
  expect_equal(computed("shift_left", DType::i8, x), {-64, 0, 0, 0, 5, -14});
  expect_equal(computed("shift_right_logical", DType::i8, x), {0, 1, 0, 0, 5, 124});
  expect_equal(computed("shift_right_arithmetic", DType::i8, x), {0, -1, -1, -1, 5, -4});
  expect_equal(computed("shift_right_arithmetic", DType::u8, {{255, 64}, {9, 3}}), {255, 8});
  expect_equal(computed("shift_right_logical", DType::u64, {{0x1p63}, {63}}), {1});
}

TEST(Values, PrefixesKeepNanAndWrap) {
  expect_equal(computed("cummax", DType::f32, {{1, kNan, 2}}), {1, kNan, kNan});
  expect_equal(computed("cummin", DType::f32, {{kNan, 1}}), {kNan, kNan});
  expect_equal(computed("cumsum", DType::i8, {{100, 100, 100}}), {100, -56, 44});
  expect_equal(computed("cumprod", DType::f32, {{2, 3, 4}}, {{"exclusive", true}, {"reverse", true}}), {12, 4, 1});
  expect_equal(computed("cummax", DType::u64, {{1, 0x1p63, 5}}), {1, 0x1p63, 0x1p63});
}

TEST(Values, OnesAreCounted) {
  expect_equal(computed("popcnt", DType::i8, {{-1, 0, 5, -128}}), {8, 0, 2, 1});
  expect_equal(computed("popcnt", DType::i64, {{-1}}), {64});
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

// 2^60 + 2^36 + 1 lies just above the middle of two f32 values; as a double it would lie on it, and go to the even one.
TEST(Values, CastsOfLargeIntegersRoundOnce) {
  Graph g;
  Builder b(g);
  const ValueId x = g.add_input("x", {DType::i64, {1}}, Role::input);
  g.outputs = {b.cast(x, DType::f32), b.cast(x, DType::bf16), b.cast(x, DType::f64)};
  Tensor value({DType::i64, {1}});
  value.integer = {(int64_t{1} << 60) + (int64_t{1} << 36) + 1};
  const Evaluation e = evaluate({}, g, {{"x", value}}, {.precision = Precision::rounded});
  EXPECT_EQ(e.outputs[0].real[0], 0x1p60 + 0x1p37);
  EXPECT_EQ(e.outputs[1].real[0], 0x1p60);
  EXPECT_EQ(e.outputs[2].real[0], 0x1p60 + 0x1p36);
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
