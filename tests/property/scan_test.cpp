// Scans of drawn bodies are equal to what they are written out, turn by turn: values, gradients, gradients of gradients;
// gradients are equal to central differences; no pass changes the meaning of any of that, nor does the device.
#include <gtest/gtest.h>

#include <cmath>

#include "ir/text/parse.h"
#include "ir/text/print.h"
#include "ir/verify/verify.h"
#include "passes/pipeline.h"
#include "tests/property/random_graph.h"
#include "tests/support/host_run.h"
#include "tests/support/random_scan.h"
#include "tests/support/unroll.h"

namespace heddle::testing {
namespace {

using namespace ir;

constexpr uint32_t kModules = 200, kAtOnce = 10;
constexpr double kTolerance = 1e-9;

void expect_well_formed(const Module& m) {
  for (const std::string& problem : verify(m)) ADD_FAILURE() << problem;
}

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
  constexpr double kStep = 1e-6;
  for_each_seed(1, 2, [](uint32_t seed, const Module& drawn) {
    const NamedTensors inputs = random_inputs(drawn, seed), direction = random_inputs(drawn, seed + 1);
    const Module m = differentiated(drawn);
    const Graph& g = m.graphs[0];
    const Evaluation at = evaluate(m, g, inputs);
    NamedTensors up = inputs, down = inputs;
    double slope = 0;
    size_t wanted = 0;
    for (const ValueId v : g.inputs) wanted += g[v].role == Role::param ? 1 : 0;
    size_t output = at.outputs.size() - wanted;
    for (const ValueId v : g.inputs) {
      if (g[v].role != Role::param) continue;
      const std::string& name = g[v].name;
      for (int64_t i = 0; i < g[v].type.elements(); ++i) {
        const double d = direction.at(name).at(i);
        slope += at.outputs.at(output).at(i) * d;
        up.at(name).set(i, inputs.at(name).at(i) + kStep * d);
        down.at(name).set(i, inputs.at(name).at(i) - kStep * d);
      }
      ++output;
    }
    const double rise = evaluate(m, g, up).outputs[0].at(0) - evaluate(m, g, down).outputs[0].at(0);
    EXPECT_NEAR(slope, rise / (2 * kStep), 1e-5 * std::max(1.0, std::abs(slope)));
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

INSTANTIATE_TEST_SUITE_P(Seeds, RandomScans, ::testing::Range(0u, kModules, kAtOnce));

}  // namespace
}  // namespace heddle::testing
