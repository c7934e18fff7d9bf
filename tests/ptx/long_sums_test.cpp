// Long sums by the text that a GPU executes, in the interpreter.
#include "tests/support/long_sums.h"

#include <gtest/gtest.h>

#include "runtime/cuda/nvrtc.h"
#include "tests/ptx/program_run.h"
#include "tests/support/host_run.h"

namespace heddle::testing {
namespace {

using namespace ir;

// HEDDLE_PTX_ALL: a million terms, which takes minutes.
int64_t terms() { return std::getenv("HEDDLE_PTX_ALL") == nullptr ? 40000 : 1000000; }

class LongSumsOfAGpu : public ::testing::TestWithParam<std::pair<DType, Terms>> {};

TEST_P(LongSumsOfAGpu, AreExactEnough) {
  if (!runtime::find_nvrtc().found) GTEST_SKIP() << "no NVRTC on this machine";
  const auto& [dtype, values] = GetParam();
  const LongSums sums(dtype, values, terms());
  const codegen::Program program = host_program(sums.module, "sums", {.library = false, .target = h200()});
  PtxOptions options;
  options.launch.races = false;
  PtxDevice device(options);
  ProgramRun run(program, device);
  for (const std::string& name : sums.names()) {
    const codegen::Entry& entry = testing::entry_named(program, name);
    run.write(entry, sums.inputs(name));
    run.run(entry);
    EXPECT_EQ(sums.fault(name, run.read(entry).at("output 0")), "");
  }
  EXPECT_TRUE(device.findings().empty());
}

INSTANTIATE_TEST_SUITE_P(All, LongSumsOfAGpu,
                         ::testing::Values(std::pair{DType::f32, known_terms()[0]},
                                           std::pair{DType::f32, known_terms()[2]},
                                           std::pair{DType::f64, known_terms()[0]}),
                         [](const auto& info) { return info.param.second.name + "_" + to_string(info.param.first); });

}  // namespace
}  // namespace heddle::testing
