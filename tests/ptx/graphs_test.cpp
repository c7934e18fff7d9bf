// Random graphs in the interpreter: no finding, results within the oracle's bounds, and the host's numbers where
// rounding decides nothing.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "ir/text/print.h"
#include "passes/pipeline.h"
#include "runtime/cuda/nvrtc.h"
#include "runtime/host/host_device.h"
#include "tests/ptx/agreement.h"
#include "tests/ptx/program_run.h"
#include "tests/random/data.h"
#include "tests/random/error_bound.h"
#include "tests/random/generate.h"
#include "tests/support/host_run.h"
#include "tests/support/unroll.h"

namespace heddle::testing {
namespace {

using namespace ir;

constexpr uint64_t kBatch = 15;  // graphs of one program

// HEDDLE_PTX_ALL: 300 graphs instead of 30.
uint64_t graphs() { return std::getenv("HEDDLE_PTX_ALL") == nullptr ? 30 : 300; }

// Elements that rounding moves by little.
std::vector<bool> steady(const Bounded& b) {
  std::vector<bool> all(b.error.size());
  for (size_t i = 0; i < all.size(); ++i) {
    const double value = b.value.at(static_cast<int64_t>(i));
    // Squares of errors are compared where each bound alone lets them agree to that.
    all[i] = std::isfinite(b.error[i]) && (!std::isfinite(value) || b.error[i] <= 3e-6 * std::abs(value));
  }
  return all;
}

void check_output(const std::string& what, const Bounded& oracle, const Tensor& host, const Tensor& got) {
  const std::string apart = compare(oracle, got);
  EXPECT_EQ(apart, "") << what;
  const std::vector<bool> counts =
      oracle.value.floating() ? steady(oracle) : std::vector<bool>(oracle.error.size(), false);
  const Agreement a = agreement(host, got, counts);
  EXPECT_EQ(a.fault, "") << what;
  EXPECT_LE(a.nmse, most_nmse(host.type.dtype)) << what;
}

constexpr double kNormal = 0x1p-50;  // of a GPU's normal random numbers of f64

void check_entry(const codegen::Entry& entry, const Graph& meaning, ProgramRun& host, ProgramRun& device) {
  const NamedTensors data = random_data(meaning);
  for (ProgramRun* run : {&host, &device}) {
    run->write(entry, data);
    run->run(entry);
  }
  const BoundedEvaluation oracle = evaluate_with_bounds(meaning, data, Precision::rounded, kNormal);
  const Images expected = host.read(entry), got = device.read(entry);
  for (size_t i = 0; i < oracle.outputs.size(); ++i) {
    const std::string name = "output " + std::to_string(i);
    check_output(entry.name + ": " + name, oracle.outputs[i], expected.at(name), got.at(name));
  }
  for (const auto& [state, bounded] : oracle.updated)
    check_output(entry.name + ": " + state, bounded, expected.at("state %" + state), got.at("state %" + state));
}

class PtxGraphs : public ::testing::TestWithParam<uint64_t> {};

TEST_P(PtxGraphs, AgreeWithTheOracleAndTheHost) {
  if (!runtime::find_nvrtc().found) GTEST_SKIP() << "no NVRTC on this machine";
  Module all;
  for (uint64_t n = GetParam(); n < GetParam() + kBatch; ++n) {
    const RandomGraph made = generate(n);
    all.bodies.insert(all.bodies.end(), made.module.bodies.begin(), made.module.bodies.end());
    all.graphs.insert(all.graphs.end(), made.module.graphs.begin(), made.module.graphs.end());
  }
  Module meaning = differentiated(unrolled(all));
  passes::find_pass("decompose")->run(meaning, {});
  const codegen::Program program = host_program(std::move(all), "random", {.library = false, .target = h200()});
  runtime::HostDevice host({.threads = 1, .kernel_cache = {}});
  PtxDevice device;
  ProgramRun on_host(program, host), on_device(program, device);
  for (const codegen::Entry& entry : program.entries)
    check_entry(entry, *meaning.find_graph(entry.name), on_host, on_device);
  for (const ptx::Finding& f : device.findings()) ADD_FAILURE() << to_string(f);
}

INSTANTIATE_TEST_SUITE_P(Batches, PtxGraphs, ::testing::Range(uint64_t{0}, graphs(), kBatch));

}  // namespace
}  // namespace heddle::testing
