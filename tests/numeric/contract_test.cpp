// Products through tiles, executed on the host, against the oracle: batches, either side transposed, sizes that are no
// multiples of a tile, sums cut into parts, convolutions and their gradients, what is fused before and behind them.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/numeric/contract_cases.h"
#include "tests/numeric/harness.h"
#include "tests/support/host_run.h"

namespace heddle::testing {
namespace {

using namespace ir;

double epsilon(DType dtype) { return dtype == DType::f32 ? 0x1p-23 : dtype == DType::f16 ? 0x1p-10 : 0x1p-7; }

NamedTensors values_of_inputs(const Graph& g) {
  NamedTensors inputs;
  for (const ValueId v : g.inputs)
    inputs[g[v].name] = random_tensor(g[v].type, /*low=*/-1, /*high=*/1, /*below=*/4, hash_text(g[v].name));
  return inputs;
}

// A sum of products of numbers up to 1 is wrong by a few units in the last place of its length's root.
void expect_close(const Tensor& expected, const Tensor& got, double rounding) {
  ASSERT_EQ(expected.type, got.type);
  double largest = 1;
  for (const double v : expected.real) largest = std::max(largest, std::abs(v));
  const double tolerance = largest * (8 * epsilon(expected.type.dtype) + 4 * rounding + 64 * epsilon(DType::f32));
  for (int64_t i = 0; i < expected.elements(); ++i)
    ASSERT_NEAR(expected.at(i), got.at(i), tolerance) << "element " << i;
}

using Group = std::vector<ContractCase>;

void expect_close(const Group& group, int threads) {
  const Module m = module_of(group);
  HostRun run(planned(group), "f0", {.threads = threads, .pipeline = false, .target = h200()});
  for (const codegen::Kernel& k : run.program().kernels) EXPECT_EQ(k.schedule, "contract") << k.title;
  for (size_t c = 0; c < group.size(); ++c) {
    const Graph& g = m.graphs[c];
    SCOPED_TRACE(group[c].name);
    const NamedTensors inputs = values_of_inputs(g);
    const Evaluation expected = evaluate(m, g, inputs, {.precision = Precision::rounded});
    const Evaluation got = run(g.name, inputs), again = run(g.name, inputs);
    ASSERT_EQ(expected.outputs.size(), got.outputs.size());
    for (size_t i = 0; i < expected.outputs.size(); ++i) {
      expect_close(expected.outputs[i], got.outputs[i], group[c].rounding);
      EXPECT_EQ(got.outputs[i].real, again.outputs[i].real) << "another run gives other bits";
    }
  }
}

class Contract : public ::testing::TestWithParam<Group> {};

TEST_P(Contract, AgreesWithTheOracle) { expect_close(GetParam(), /*threads=*/3); }

INSTANTIATE_TEST_SUITE_P(Schedules, Contract, ::testing::ValuesIn(contract_groups()),
                         [](const auto& info) { return to_string(info.param[0].choice); });

}  // namespace
}  // namespace heddle::testing
