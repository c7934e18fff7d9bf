// Scans of drawn bodies in the interpreter: loops of launches whose addresses move on from turn to turn. No finding, and
// numbers as exact as those of the host.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "runtime/cuda/nvrtc.h"
#include "runtime/host/host_device.h"
#include "tests/ptx/program_run.h"
#include "tests/support/host_run.h"
#include "tests/support/random_scan.h"

namespace heddle::testing {
namespace {

using namespace ir;

class PtxScans : public ::testing::TestWithParam<uint32_t> {};

double difference(const Tensor& expected, const Tensor& got) {
  double scale = 1, most = 0;
  for (int64_t i = 0; i < expected.elements(); ++i) scale = std::max(scale, std::abs(expected.at(i)));
  for (int64_t i = 0; i < expected.elements(); ++i) most = std::max(most, std::abs(expected.at(i) - got.at(i)) / scale);
  return most;
}

NamedTensors inputs_of(const Module& m) {
  NamedTensors inputs;
  int64_t n = 0;
  for (const ValueId v : m.graphs[0].inputs) {
    Tensor t(m.graphs[0][v].type);
    for (int64_t i = 0; i < t.elements(); ++i, ++n)
      t.set(i,
            t.floating() ? round_to(DType::f32, std::sin(static_cast<double>(3 * n + 1))) : static_cast<double>(n % 4));
    inputs.emplace(m.graphs[0][v].name, std::move(t));
  }
  return inputs;
}

TEST_P(PtxScans, AgreeWithTheOracleAndTheHost) {
  if (!runtime::find_nvrtc().found) GTEST_SKIP() << "no NVRTC on this machine";
  for (uint32_t seed = GetParam(); seed < GetParam() + 2; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Module m = random_scan(seed, {.order = 1});
    const NamedTensors inputs = inputs_of(m);
    const Module meaning = differentiated(m);
    const std::vector<Tensor> expected = evaluate(meaning, meaning.graphs[0], inputs).outputs;
    const codegen::Program program = host_program(m, "scan", {.library = false, .target = h200()});
    runtime::HostDevice host({.threads = 1, .kernel_cache = {}});
    PtxDevice device;
    ProgramRun on_host(program, host), on_device(program, device);
    const codegen::Entry& entry = program.entries[0];
    for (ProgramRun* run : {&on_host, &on_device}) {
      run->write(entry, inputs);
      run->run(entry);
    }
    const Images of_host = on_host.read(entry), got = on_device.read(entry);
    for (size_t i = 0; i < expected.size(); ++i) {
      const std::string name = "output " + std::to_string(i);
      const double allowed = std::max(2e-5, 4 * difference(expected[i], of_host.at(name)));
      ASSERT_LE(allowed, 1e-2) << name;
      EXPECT_LE(difference(expected[i], got.at(name)), allowed) << name;
    }
    for (const ptx::Finding& f : device.findings()) ADD_FAILURE() << to_string(f);
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, PtxScans, ::testing::Range(0u, 20u, 2u));

}  // namespace
}  // namespace heddle::testing
