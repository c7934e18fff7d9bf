// Scans of drawn bodies are equal to what they are written out, turn by turn: values, gradients, gradients of gradients;
// gradients are equal to central differences; no pass changes the meaning of any of that, nor does the device.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "ir/text/parse.h"
#include "ir/text/print.h"
#include "passes/pipeline.h"
#include "tests/property/checks.h"
#include "tests/property/random_graph.h"
#include "tests/support/host_run.h"
#include "tests/support/random_scan.h"
#include "tests/support/unroll.h"

namespace heddle::testing {
namespace {

using namespace ir;

constexpr uint32_t kAtOnce = 10;
// HEDDLE_SCANS=300: so many modules; without it a sample.
uint32_t modules() {
  const char* text = std::getenv("HEDDLE_SCANS");
  return text == nullptr ? 100 : static_cast<uint32_t>(std::strtoul(text, nullptr, 10));
}
constexpr double kTolerance = 1e-9;

void expect_outputs(const std::vector<Tensor>& expected, const std::vector<Tensor>& got, double tolerance) {
  ASSERT_EQ(expected.size(), got.size());
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_LE(difference(expected[i], got[i]), tolerance) << "output " << i;
}

class RandomScans : public ::testing::TestWithParam<uint32_t> {
 protected:
  // Calls f(seed, module of that order) for each of the seeds; stops at the first that fails.
  template <class F>
  void for_each_seed(int order, uint32_t step, F f) {
    for (uint32_t seed = GetParam(); seed < GetParam() + kAtOnce; seed += step) {
      SCOPED_TRACE("seed " + std::to_string(seed));
      Module m = random_scan(seed, {.order = order});
      expect_well_formed(m);
      if (!HasFailure()) f(seed, std::move(m));
      if (HasFailure()) return;
    }
  }
};

TEST_P(RandomScans, AreEqualToTheirTurnsWrittenOut) {
  for_each_seed(2, 1, [](uint32_t seed, const Module& m) {
    const NamedTensors inputs = random_inputs(m, seed);
    const Module scanned = differentiated(m), written = differentiated(unrolled(m));
    expect_well_formed(scanned);
    expect_outputs(evaluate(written, written.graphs[0], inputs).outputs,
                   evaluate(scanned, scanned.graphs[0], inputs).outputs, kTolerance);
  });
}

// Along a random direction of all floating inputs.
TEST_P(RandomScans, HaveTheGradientsOfCentralDifferences) {
  for_each_seed(1, 2, [](uint32_t seed, const Module& drawn) {
    const Module m = differentiated(drawn);
    const Graph& g = m.graphs[0];
    const auto params = std::ranges::count_if(g.inputs, [&](ValueId v) { return g[v].role == Role::param; });
    expect_slope(m, g, random_inputs(drawn, seed), random_inputs(drawn, seed + 1),
                 g.outputs.size() - static_cast<size_t>(params), 1e-5);
  });
}

TEST_P(RandomScans, KeepTheirMeaningThroughThePipeline) {
  for_each_seed(1, 1, [](uint32_t seed, Module m) {
    const NamedTensors inputs = random_inputs(m, seed);
    const Module written = differentiated(unrolled(m));
    const std::vector<Tensor> expected = evaluate(written, written.graphs[0], inputs).outputs;
    for (const passes::Pass& pass : passes::all_passes()) {
      SCOPED_TRACE("pass " + std::string(pass.name));
      const Module before = m;
      const bool changed = pass.run(m, host_options());
      EXPECT_TRUE(changed || structurally_equal(before, m)) << "changes the module and does not say so";
      expect_well_formed(m);
      if (::testing::Test::HasFailure()) return;
      const SourceFile file{"printed", print(m)};
      EXPECT_TRUE(structurally_equal(m, parse(file)));
      Module again = m;
      EXPECT_FALSE(pass.run(again, host_options())) << "changes its own result";
      EXPECT_TRUE(structurally_equal(m, again));
      const Module now = differentiated(m);
      expect_outputs(expected, evaluate(now, now.graphs[0], inputs).outputs, kTolerance);
      if (::testing::Test::HasFailure()) return;
    }
    SCOPED_TRACE("through the arena");
    expect_outputs(expected, evaluate(m, m.graphs[0], inputs, {.through_arena = true}).outputs, kTolerance);
  });
}

// In f32, so with its errors: a few times those of the turns written out. With a library and without, by one thread and
// by two, whose bits are equal.
TEST_P(RandomScans, RunOnTheHost) {
  for_each_seed(1, 5, [](uint32_t seed, const Module& m) {
    const NamedTensors inputs = random_inputs(m, seed);
    const Module oracle = differentiated(m);
    const std::vector<Tensor> expected = evaluate(oracle, oracle.graphs[0], inputs).outputs;
    HostRun written(unrolled(m), "g");
    const std::vector<Tensor> by_turns = written(inputs).outputs;
    double allowed = 2e-5;
    for (size_t i = 0; i < expected.size(); ++i) allowed = std::max(allowed, 4 * difference(expected[i], by_turns[i]));
    ASSERT_LE(allowed, 1e-2);
    std::vector<Tensor> of_one_thread;
    for (const bool library : {true, false})
      for (const int threads : {1, 2}) {
        HostRun run(m, "g", {.threads = threads, .library = library});
        std::vector<Tensor> got = run(inputs).outputs;
        expect_outputs(expected, got, allowed);
        expect_outputs(got, run(inputs).outputs, 0);  // what a run leaves behind is in nobody's way
        if (threads == 1)
          of_one_thread = std::move(got);
        else
          expect_outputs(of_one_thread, got, 0);
      }
  });
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomScans, ::testing::Range(0u, modules(), kAtOnce));

}  // namespace
}  // namespace heddle::testing
