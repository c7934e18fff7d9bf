// Generated kernels at the edges of their operands: signed zeros, infinities, nan, overflow; the extreme integers and
// division by zero. The oracle in rounded mode says what is right.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/numeric/harness.h"
#include "tests/support/host_run.h"

namespace heddle::testing {
namespace {

using namespace ir;

constexpr double kInf = std::numeric_limits<double>::infinity();

std::vector<double> edges(DType dtype) {
  if (is_floating(dtype))
    return {0.0, -0.0, 1,   -1,   0.5,   -2.5,   3,    -3,    6,    20,    -20,
            88,  -88,  104, -104, 1e-30, -1e-30, 1e30, -1e30, kInf, -kInf, std::nan("")};
  const double high = std::ldexp(1, static_cast<int>(bits(dtype)) - (is_signed(dtype) ? 1 : 0));
  if (!is_signed(dtype)) return {0, 1, 2, 7, high / 2, high - high / 1024, -1};  // -1 wraps to the largest
  return {0, 1, -1, 2, -2, 7, -7, high - high / 1024, 1 - high / 2, -high};
}

// Every combination of edges, the first operand's fastest.
std::vector<Tensor> combinations(DType dtype, size_t operands) {
  const std::vector<double> values = edges(dtype);
  int64_t count = 1;
  for (size_t k = 0; k < operands; ++k) count *= static_cast<int64_t>(values.size());
  std::vector<Tensor> tensors(operands, Tensor({dtype, {count}}));
  for (int64_t i = 0; i < count; ++i) {
    auto rest = static_cast<size_t>(i);
    for (Tensor& t : tensors) {
      t.set(i, values[rest % values.size()]);
      rest /= values.size();
    }
  }
  return tensors;
}

// Sine, cosine and tangent need the reduction of huge angles, whose error grows with the angle.
bool takes_edges(const OpDef& op, DType dtype) {
  if (!std::holds_alternative<Elementwise>(op.kind) || op.operands.size() > 2 || op.name == "cast") return false;
  if (!op.dtypes.empty() && std::find(op.dtypes.begin(), op.dtypes.end(), dtype) == op.dtypes.end()) return false;
  if (op.name == "clamp" && is_integer(dtype)) return false;  // has no default limits for integers
  return op.name != "sin" && op.name != "cos" && op.name != "tan";
}

void expect_same(const Tensor& expected, const Tensor& got, const std::vector<Tensor>& operands) {
  for (int64_t i = 0; i < expected.elements(); ++i) {
    const double e = expected.at(i), v = got.at(i);
    std::string point;
    double largest = 0x1p-100;  // results below are as good as 0
    for (const Tensor& t : operands) {
      point += fmt::format(" {}", t.at(i));
      if (std::abs(t.at(i)) <= 3) largest = std::max(largest, std::abs(t.at(i)));
    }
    // 8 units in the last place
    const double unit = expected.type.dtype == DType::f64 ? 0x1p-49 : 0x1p-20;
    const double tolerance = expected.floating() ? unit * std::max(std::abs(e), largest) : 0;
    EXPECT_TRUE(e == v || (std::isnan(e) && std::isnan(v)) || std::abs(e - v) <= tolerance)
        << "at" << point << ": expected " << e << ", kernel " << v;
  }
}

class Edges : public ::testing::TestWithParam<DType> {};

TEST_P(Edges, AgreeWithTheOracle) {
  const DType dtype = GetParam();
  Module m;
  Graph& g = m.graphs.emplace_back();
  g.name = "edges";
  Builder b(g);
  NamedTensors inputs;
  Values unary, binary;
  const std::vector<Tensor> one = combinations(dtype, 1), two = combinations(dtype, 2);
  const auto input = [&](const std::string& name, const Tensor& t) {
    inputs[name] = t;
    return g.add_input(name, t.type, Role::input);
  };
  unary = {input("x", one[0])};
  binary = {input("a", two[0]), input("b", two[1])};
  std::vector<const OpDef*> ops;
  for (const OpDef* op : all_ops()) {
    if (!takes_edges(*op, dtype)) continue;
    ops.push_back(op);
    g.outputs.push_back(b(op->name, op->operands.size() == 1 ? unary : binary));
  }
  const Evaluation expected = evaluate(m, g, inputs, {.precision = Precision::rounded});
  const Evaluation got = HostRun(m, "edges")(inputs);
  for (size_t i = 0; i < ops.size(); ++i) {
    SCOPED_TRACE(ops[i]->name);
    expect_same(expected.outputs[i], got.outputs[i], ops[i]->operands.size() == 1 ? one : two);
  }
}

INSTANTIATE_TEST_SUITE_P(Dtypes, Edges,
                         ::testing::Values(DType::f32, DType::f64, DType::i64, DType::i32, DType::i8, DType::u64,
                                           DType::u32, DType::u8),
                         [](const auto& info) { return ir::to_string(info.param); });

}  // namespace
}  // namespace heddle::testing
