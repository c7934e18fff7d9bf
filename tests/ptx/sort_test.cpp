// Orders of rows so long that a GPU finds them in several launches: in the interpreter and, in the
// same launches, on the host, those of the oracle, of whatever is equal, not finite or at the ends
// of its type.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "codegen/lower.h"
#include "ir/text/parse.h"
#include "passes/pipeline.h"
#include "runtime/cuda/nvrtc.h"
#include "runtime/host/host_device.h"
#include "tests/ptx/agreement.h"
#include "tests/ptx/program_run.h"
#include "tests/support/host_run.h"

namespace heddle::testing {
namespace {

using namespace ir;

struct Case {
  std::string type;
  bool descending = false;
};

Tensor hostile(const Type& type) {
  Tensor x(type);
  std::mt19937_64 random(7);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double reals[] = {std::nan(""), kInfinity, -kInfinity, 0.0, -0.0, 1.5, -2};
  const int64_t width = bits(type.dtype) - (is_signed(type.dtype) ? 1 : 0);
  const auto largest = static_cast<int64_t>(width >= 63 ? INT64_MAX : (int64_t{1} << width) - 1);
  for (int64_t i = 0; i < x.elements(); ++i) {
    const auto at = static_cast<size_t>(i);
    const uint64_t word = random();
    if (x.floating())
      x.real[at] =
          word % 5 == 0 ? reals[word / 5 % 7] : static_cast<double>(static_cast<int64_t>(word % 4001)) / 8 - 250;
    else
      x.integer[at] = word % 5 == 0 ? largest : static_cast<int64_t>(word % 100) - (is_signed(type.dtype) ? 50 : 0);
  }
  return x;
}

class PtxSort : public ::testing::TestWithParam<Case> {};

TEST_P(PtxSort, IsThatOfTheOracle) {
  if (!runtime::find_nvrtc().found) GTEST_SKIP() << "no NVRTC on this machine";
  const std::string& type = GetParam().type;
  const SourceFile source{"sort.hir",
                          fmt::format("graph @f(input %x: {0}) {{\n  %order: i32{1}, %sorted: {0} = argsort(%x) "
                                      "{{descending = {2}}}\n  return %order, %sorted\n}}\n",
                                      type, type.substr(type.find('[')), GetParam().descending)};
  Module m = parse(source);
  const NamedTensors inputs = {{"x", hostile(m.graphs[0][m.graphs[0].inputs[0]].type)}};
  const Evaluation expected = evaluate(m, m.graphs[0], inputs, {.precision = Precision::rounded});
  passes::Options options = host_options(/*library=*/false);
  options.target = h200();
  passes::run_pipeline(m, options);
  const codegen::Program program = codegen::lower(m, "sort", h200());
  EXPECT_NE(program.source.find("hd::merge_runs<"), std::string::npos) << "it is found in several launches";
  runtime::HostDevice host({.threads = 2, .kernel_cache = {}});
  PtxDevice interpreter;
  for (runtime::Device* device : {static_cast<runtime::Device*>(&host), static_cast<runtime::Device*>(&interpreter)}) {
    ProgramRun run(program, *device);
    const codegen::Entry& entry = program.entries[0];
    run.write(entry, inputs);
    run.run(entry);
    const Images got = run.read(entry);
    for (size_t i = 0; i < expected.outputs.size(); ++i)
      EXPECT_EQ(agreement(expected.outputs[i], got.at(fmt::format("output {}", i))).fault, "") << i;
    EXPECT_EQ(got.at("output 0").integer, expected.outputs[0].integer);
  }
  for (const ptx::Finding& f : interpreter.findings()) ADD_FAILURE() << to_string(f);
}

INSTANTIATE_TEST_SUITE_P(All, PtxSort,
                         ::testing::Values(Case{"f32[2,8193]", true}, Case{"bf16[9000]"}, Case{"f64[9001]"},
                                           Case{"i64[3,8192]", true}, Case{"u8[17000]"}, Case{"u64[9000]", true}));

}  // namespace
}  // namespace heddle::testing
