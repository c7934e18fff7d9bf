// Attributes as arguments of kernels: two graphs that differ in a scalar attribute run one kernel, with the bits that
// two kernels of their own give, and the oracles' numbers. Every operator that declares one, on every dtype.
#include <gtest/gtest.h>

#include "codegen/scalar_argument.h"
#include "ir/scalars.h"
#include "passes/pipeline.h"
#include "tests/numeric/harness.h"
#include "tests/support/host_run.h"

namespace heddle::testing {
namespace {

using namespace ir;

bool takes_scalars(const Case& c) {
  return c.sample == 0 && std::any_of(c.op->attrs.begin(), c.op->attrs.end(), [](const Key& a) { return a.scalar; });
}

std::vector<Case> scalar_cases() {
  std::vector<Case> cases = cases_where(takes_scalars);
  for (const Case& c : dtype_cases())
    if (takes_scalars(c)) cases.push_back(c);
  return cases;
}

// Another number that the operator takes: not an edge of anything.
Attr changed(const Attr& value, DType dtype) {
  if (const auto* integer = std::get_if<int64_t>(&value)) return *integer + 12345;
  const double real = std::get<double>(value);
  if (dtype == DType::boolean) return real == 0 ? 1.0 : 0.0;
  return is_floating(dtype) ? 0.3 * real + 0.9 : real + 3;
}

// The case as graph @first and, with other numbers, as graph @second.
Module two_graphs(const Case& c) {
  OneOp first = one_op(c), second = one_op(c);
  Graph& g = second.graph();
  const NodeId id = g[second.results[0]].def;
  for (const Key& attr : c.op->attrs)
    if (attr.scalar) {
      const Attr now = attribute(*c.op, g[id].attrs, attr.name);
      g[id].attrs.insert_or_assign(attr.name, changed(now, g[second.results[0]].type.dtype));
    }
  g[id].attrs = canonical_attrs(*c.op, g[id].attrs);
  first.graph().name = "first";
  g.name = "second";
  for (OneOp* one : {&first, &second}) one->graph().outputs = one->results;
  Module m;
  m.graphs = {first.graph(), g};
  return m;
}

void expect_equal(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].real, b[i].real);
    EXPECT_EQ(a[i].integer, b[i].integer);
  }
}

class ScalarArgument : public ::testing::TestWithParam<Case> {};

TEST_P(ScalarArgument, GivesTheBitsOfALiteral) {
  const Module m = two_graphs(GetParam());
  Module planned = m;
  passes::run_pipeline(planned, {});
  ASSERT_EQ(planned.kernels.size(), 1U);
  ASSERT_FALSE(planned.kernels[0].scalars.empty());
  const NamedTensors inputs = random_inputs(GetParam());
  for (const Graph& g : m.graphs) {
    SCOPED_TRACE(g.name);
    Module alone;
    alone.graphs = {g};
    expect_equal(HostRun(m, g.name)(inputs).outputs, HostRun(alone, g.name)(inputs).outputs);
    expect_equal(evaluate(planned, *planned.find_graph(g.name), inputs, {.precision = Precision::rounded}).outputs,
                 evaluate(m, g, inputs, {.precision = Precision::rounded}).outputs);
  }
}

INSTANTIATE_TEST_SUITE_P(Operators, ScalarArgument, ::testing::ValuesIn(scalar_cases()),
                         [](const auto& info) { return to_string(info.param); });

// 16-bit floating numbers are rounded before they are passed, integers of every width wrap like literals.
TEST(ScalarText, IsPassedInTheTypeThatTheKernelComputesWith) {
  const auto bits = [](const Attr& value, DType dtype) { return codegen::scalar_argument(value, dtype).bits; };
  EXPECT_EQ(bits(0.1, DType::f16), 0x3dccc000U);  // 0.0999755859375f
  EXPECT_EQ(bits(0.1, DType::f32), 0x3dcccccdU);
  EXPECT_EQ(bits(0.1, DType::f64), 0x3fb999999999999aU);
  EXPECT_EQ(bits(int64_t{-1}, DType::i64), ~uint64_t{0});
  EXPECT_EQ(bits(int64_t{7}, DType::boolean), 1U);
  EXPECT_EQ(codegen::scalar_text(codegen::scalar_argument(0.1, DType::bf16)), "0.10009765625");
  EXPECT_EQ(codegen::scalar_text(codegen::scalar_argument(int64_t{-5}, DType::i32)), "-5");
}

}  // namespace
}  // namespace heddle::testing
