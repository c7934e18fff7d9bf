// Generated kernels, compiled for the host and run, against the oracles in rounded mode: every operator on every
// sample, and in every dtype it takes. Cases are compiled in groups: a compiler's start costs more than a kernel.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/numeric/harness.h"
#include "tests/support/host_run.h"

namespace heddle::testing {
namespace {

using namespace ir;

constexpr size_t kGroup = 48;  // cases

struct Group {
  std::vector<Case> cases;
  size_t number = 0;
};

std::vector<Group> groups() {
  std::vector<Case> cases = all_cases();
  const std::vector<Case> dtypes = dtype_cases();
  cases.insert(cases.end(), dtypes.begin(), dtypes.end());
  std::vector<Group> groups;
  for (size_t i = 0; i < cases.size(); ++i) {
    if (i % kGroup == 0) groups.push_back({{}, groups.size()});
    groups.back().cases.push_back(cases[i]);
  }
  return groups;
}

// One graph of all the cases, with inputs like "exp_0.x0".
struct Together {
  Module module;
  NamedTensors inputs;
  std::vector<std::vector<ValueId>> operands, results;  // by case

  explicit Together(const Group& group) {
    Graph& g = module.graphs.emplace_back();
    g.name = "group";
    for (const Case& c : group.cases) {
      const std::string prefix = to_string(c) + ".";
      const auto [in, out] = append_case(g, c, prefix);
      for (auto& [name, tensor] : random_inputs(c)) inputs[prefix + name] = std::move(tensor);
      g.outputs.insert(g.outputs.end(), out.begin(), out.end());
      operands.push_back(in);
      results.push_back(out);
    }
  }
  const Graph& graph() const { return module.graphs[0]; }
};

double epsilon(DType dtype) {
  switch (dtype) {
    case DType::f64: return 0x1p-52;
    case DType::f32: return 0x1p-23;
    case DType::f16: return 0x1p-10;
    default: return 0x1p-7;  // bf16
  }
}

// How many terms an element of the result sums up, at most.
double reduction_length(const Graph& g, const Together& all, size_t c) {
  double most = 1;
  for (const ValueId v : all.operands[c]) most = std::max(most, static_cast<double>(g[v].type.elements()));
  const double elements = static_cast<double>(g[all.results[c][0]].type.elements());
  const OpDef& op = *g.def(all.results[c][0])->op;
  const bool pointwise = std::holds_alternative<Elementwise>(op.kind) || std::holds_alternative<Source>(op.kind);
  return pointwise ? 1 : std::max(1.0, most / std::min(elements, most) * 8);
}

// Integers, truth values and moved elements agree exactly. Floating results may differ by a few units in the last place
// of the largest number involved, more by the root of the number of terms of a sum.
void expect_close(const Tensor& expected, const Tensor& got, double length, double largest_operand, bool exact) {
  ASSERT_EQ(expected.type, got.type);
  double largest = largest_operand;
  if (length > 1)
    for (const double v : expected.real) largest = std::max(largest, std::abs(v));
  for (int64_t i = 0; i < expected.elements(); ++i) {
    const double e = expected.at(i), v = got.at(i);
    if (std::isnan(e) && std::isnan(v)) continue;
    const double units = exact || !expected.floating() ? 0 : 4 * std::sqrt(length);
    const double tolerance = units * epsilon(expected.type.dtype) * std::max(std::abs(e), largest);
    EXPECT_TRUE(e == v || std::abs(e - v) <= tolerance) << "element " << i << ": expected " << e << ", kernel " << v;
    if (!(e == v || std::abs(e - v) <= tolerance)) return;  // the first of a tensor says enough
  }
}

void compare(const Group& group, const HostRunOptions& options) {
  const Together all(group);
  const Graph& g = all.graph();
  const Evaluation expected = evaluate(all.module, g, all.inputs, {.precision = Precision::rounded});
  const Evaluation got = HostRun(all.module, "group", options)(all.inputs);
  size_t output = 0;
  for (size_t c = 0; c < group.cases.size(); ++c) {
    SCOPED_TRACE(to_string(group.cases[c]));
    // The angle of a normal number goes up to 2 pi.
    double largest = std::holds_alternative<Source>(group.cases[c].op->kind) ? 8 : 1;
    for (const ValueId v : all.operands[c])
      for (const double x : all.inputs.at(g[v].name).real) largest = std::max(largest, std::abs(x));
    const bool moved = std::holds_alternative<Movement>(group.cases[c].op->kind) ||
                       std::holds_alternative<Lookup>(group.cases[c].op->kind);
    for (size_t k = 0; k < all.results[c].size(); ++k, ++output)
      expect_close(expected.outputs[output], got.outputs[output], reduction_length(g, all, c), largest, moved);
  }
}

void PrintTo(const Group& group, std::ostream* stream) { *stream << "group " << group.number; }

class Kernel : public ::testing::TestWithParam<Group> {};

TEST_P(Kernel, AgreesWithTheOracle) { compare(GetParam(), {}); }

INSTANTIATE_TEST_SUITE_P(Groups, Kernel, ::testing::ValuesIn(groups()), [](const auto& info) {
  return std::to_string(info.param.number) + "_from_" + to_string(info.param.cases.front());
});

// Without a library the same operators run as generated text.
TEST(KernelWithoutLibrary, ContractionsAgreeWithTheirOracles) {
  const auto wanted = [](const Case& c) { return std::holds_alternative<Contraction>(c.op->kind); };
  compare({cases_where(wanted), 0}, {.library = false});
}

}  // namespace
}  // namespace heddle::testing
