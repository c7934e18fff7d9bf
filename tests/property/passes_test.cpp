// Passes keep the meaning of 300 random graphs: evaluated before and after each, then through the planned arena. Each
// pass is idempotent, and the text of each of its results reads back equal.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "ir/text/parse.h"
#include "ir/text/print.h"
#include "passes/pipeline.h"
#include "tests/property/checks.h"
#include "tests/property/random_graph.h"
#include "tests/support/host_run.h"

namespace heddle::testing {
namespace {

using namespace ir;
using passes::Pass;

constexpr uint32_t kGraphs = 300;
constexpr double kTolerance = 1e-9;

std::map<std::string, Evaluation> evaluate_all(const Module& m, const NamedTensors& inputs, bool through_arena) {
  const NamedTensors flat = flatten_states(m, inputs);
  std::map<std::string, Evaluation> all;
  for (const Graph& g : m.graphs) {
    Evaluation e = evaluate(m, g, flat, {.through_arena = through_arena});
    e.updated = unflatten_states(m, std::move(e.updated));
    all.emplace(g.name, std::move(e));
  }
  return all;
}

void expect_equal(const std::map<std::string, Evaluation>& before, const std::map<std::string, Evaluation>& after) {
  for (const auto& [name, expected] : before) {
    const Evaluation& got = after.at(name);
    ASSERT_EQ(expected.outputs.size(), got.outputs.size());
    for (size_t i = 0; i < expected.outputs.size(); ++i)
      EXPECT_LE(difference(expected.outputs[i], got.outputs[i]), kTolerance) << "@" << name << ", output " << i;
    ASSERT_EQ(expected.updated.size(), got.updated.size()) << "@" << name;
    for (const auto& [state, next] : expected.updated)
      EXPECT_LE(difference(next, got.updated.at(state)), kTolerance) << "@" << name << ", state " << state;
  }
}

void expect_reads_back(const Module& m) {
  const SourceFile file{"printed", print(m)};
  EXPECT_TRUE(structurally_equal(m, parse(file)));
}

void expect_idempotent(const Pass& pass, const Module& m) {
  Module again = m;
  EXPECT_FALSE(pass.run(again, host_options())) << pass.name << " changes its own result";
  EXPECT_TRUE(structurally_equal(m, again)) << pass.name << " changes its own result and does not say so";
}

void check_passes(Module m, const NamedTensors& inputs, const std::vector<std::string>& names) {
  const std::map<std::string, Evaluation> expected = evaluate_all(differentiated(m), inputs, false);
  for (const std::string& name : names) {
    SCOPED_TRACE("pass " + name);
    const Pass& pass = *passes::find_pass(name);
    const Module before = m;
    const bool changed = pass.run(m, host_options());
    EXPECT_TRUE(changed || structurally_equal(before, m)) << "changes the module and does not say so";
    expect_well_formed(m);
    if (::testing::Test::HasFailure()) return;
    expect_reads_back(m);
    expect_idempotent(pass, m);
    expect_equal(expected, evaluate_all(differentiated(m), inputs, false));
    if (::testing::Test::HasFailure()) return;
  }
  SCOPED_TRACE("through the arena");
  expect_equal(expected, evaluate_all(m, inputs, true));
}

class RandomGraphs : public ::testing::TestWithParam<uint32_t> {};

TEST_P(RandomGraphs, KeepTheirMeaningThroughThePipeline) {
  std::vector<std::string> names;
  for (const Pass& pass : passes::all_passes()) names.emplace_back(pass.name);
  for (uint32_t seed = GetParam(); seed < GetParam() + 10; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Module m;
    add_random_graph(m, "g", seed, {.gradients = seed % 3 != 0});
    check_passes(m, random_inputs(m, seed), names);
    if (HasFailure()) return;
  }
}

// Planning does not depend on fusion: plain operators are planned as well.
TEST_P(RandomGraphs, KeepTheirMeaningThroughPlanningAlone) {
  for (uint32_t seed = GetParam(); seed < GetParam() + 10; seed += 5) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Module m;
    add_random_graph(m, "g", seed, {.gradients = true});
    check_passes(m, random_inputs(m, seed), {"differentiate", "schedule_instructions", "alias", "assign_buffers"});
    if (HasFailure()) return;
  }
}

// differentiate against central differences along a random direction of all parameters.
TEST_P(RandomGraphs, HaveTheGradientsOfCentralDifferences) {
  for (uint32_t seed = GetParam(); seed < GetParam() + 10; seed += 2) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Module m;
    add_random_graph(m, "g", seed, {.nodes = 12, .gradients = false, .smooth = true});
    passes::find_pass("differentiate")->run(m, {});
    expect_well_formed(m);
    expect_slope(m, m.graphs[0], random_inputs(m, seed), random_inputs(m, seed + 1), /*first_gradient=*/1, 1e-6);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomGraphs, ::testing::Range(0u, kGraphs, 10u));

}  // namespace
}  // namespace heddle::testing
