// What a composite decomposes into computes what its own oracle does, on every sample.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "ir/builder.h"
#include "ir/evaluate/evaluate.h"

namespace heddle::ir {
namespace {

Tensor random_tensor(const Type& type, const Sample& sample, std::mt19937_64& random) {
  std::uniform_real_distribution<double> real(sample.low, sample.high);
  std::uniform_int_distribution<int64_t> integer(0, sample.below - 1);
  Tensor t(type);
  for (double& v : t.real) v = real(random);
  for (int64_t& v : t.integer) v = integer(random);
  return t;
}

// f64, where the operator takes it.
DType widest(const OpDef& op) {
  const bool takes = op.dtypes.empty() || std::ranges::count(op.dtypes, DType::f64) > 0;
  return takes ? DType::f64 : op.dtypes.front();
}

// The operator's results, then those of its decomposition, as outputs of one graph.
void expect_equal_results(const OpDef& op, const Sample& sample) {
  Module m;
  Graph& g = m.graphs.emplace_back();
  g.name = "f";
  std::mt19937_64 random(11);
  NamedTensors inputs;
  Values operands;
  for (size_t i = 0; i < sample.shapes.size(); ++i) {
    const Type type{i < sample.dtypes.size() ? sample.dtypes[i] : widest(op), sample.shapes[i]};
    operands.push_back(g.add_input(fmt::format("x{}", i), type, Role::input));
    inputs[g[operands.back()].name] = random_tensor(type, sample, random);
  }
  Builder b(g);
  g.outputs = b.multi(op.name, operands, sample.attrs);
  const Node node = *g.def(g.outputs[0]);
  const Values decomposed = op.decomposition(b, node);
  const size_t count = g.outputs.size();
  ASSERT_EQ(decomposed.size(), count) << op.name;
  g.outputs.insert(g.outputs.end(), decomposed.begin(), decomposed.end());
  const Evaluation result = evaluate(m, g, inputs);
  for (size_t r = 0; r < count; ++r) {
    const Tensor& whole = result.outputs[r];
    const Tensor& parts = result.outputs[count + r];
    ASSERT_EQ(whole.type, parts.type) << op.name;
    for (int64_t i = 0; i < whole.elements(); ++i)
      ASSERT_NEAR(whole.at(i), parts.at(i), 1e-9 * (1 + std::fabs(whole.at(i))))
          << op.name << " of " << to_string(g[operands[0]].type) << ", element " << i;
  }
}

TEST(Decomposition, ComputesWhatTheCompositeDoes) {
  int composites = 0;
  for (const OpDef* op : all_ops()) {
    if (!op->decomposition) continue;
    ++composites;
    EXPECT_GE(op->samples.size(), 5U) << op->name;
    for (const Sample& sample : op->samples) expect_equal_results(*op, sample);
  }
  EXPECT_GE(composites, 6);
}

}  // namespace
}  // namespace heddle::ir
