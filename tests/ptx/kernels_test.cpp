// Generated kernels, planned for a GPU, in the interpreter: every operator on every sample and in every dtype, against
// the same program on the host device.
#include <gtest/gtest.h>

#include <cstdlib>

#include "runtime/cuda/nvrtc.h"
#include "runtime/host/host_device.h"
#include "tests/numeric/harness.h"
#include "tests/ptx/agreement.h"
#include "tests/ptx/program_run.h"
#include "tests/support/host_run.h"

namespace heddle::testing {
namespace {

using namespace ir;

constexpr size_t kGroup = 48;  // cases of one program

std::vector<std::vector<Case>> groups() {
  std::vector<Case> cases = all_cases();
  const std::vector<Case> dtypes = dtype_cases();
  cases.insert(cases.end(), dtypes.begin(), dtypes.end());
  std::vector<std::vector<Case>> groups;
  for (size_t i = 0; i < cases.size(); ++i) {
    if (i % kGroup == 0) groups.emplace_back();
    groups.back().push_back(cases[i]);
  }
  return groups;
}

// A product's relative error grows with its length, and some of the results have one element.
double most_nmse_of(const std::string& name, DType dtype) {
  return most_nmse(dtype) * (name.starts_with("reduce_prod") ? 100 : 1);
}

// A graph on the host and in the interpreter; no finding.
struct Both {
  Images host, interpreter;
  uint64_t longest_chain = 0;  // of dependent loads, where the options count them
};
Both run_both(Module module, const NamedTensors& inputs, const PtxOptions& options = {}) {
  const codegen::Program program = host_program(std::move(module), "group", {.library = false, .target = h200()});
  runtime::HostDevice host({.threads = 1, .kernel_cache = {}});
  PtxDevice device(options);
  ProgramRun expected(program, host), got(program, device);
  const codegen::Entry& entry = program.entries[0];
  for (ProgramRun* run : {&expected, &got}) {
    run->write(entry, inputs);
    run->run(entry);
  }
  for (const ptx::Finding& f : device.findings()) ADD_FAILURE() << to_string(f);
  return {expected.read(entry), got.read(entry), device.total().longest_chain};
}

class PtxKernels : public ::testing::TestWithParam<size_t> {};

TEST_P(PtxKernels, AgreeWithTheHost) {
  if (!runtime::find_nvrtc().found) GTEST_SKIP() << "no NVRTC on this machine";
  Module module;
  Graph& g = module.graphs.emplace_back();
  g.name = "group";
  NamedTensors inputs;
  std::vector<std::string> owner;  // by output
  const std::vector<Case> cases = groups()[GetParam()];
  for (const Case& c : cases) {
    const std::string prefix = to_string(c) + ".";
    const Values results = append_case(g, c, prefix).second;
    for (auto& [name, tensor] : random_inputs(c)) inputs[prefix + name] = std::move(tensor);
    g.outputs.insert(g.outputs.end(), results.begin(), results.end());
    owner.insert(owner.end(), results.size(), to_string(c));
  }
  const Both both = run_both(std::move(module), inputs);
  for (size_t i = 0; i < owner.size(); ++i) {
    const std::string output = "output " + std::to_string(i);
    const Tensor& e = both.host.at(output);
    const Agreement a = agreement(e, both.interpreter.at(output));
    EXPECT_EQ(a.fault, "") << owner[i];
    EXPECT_LE(a.nmse, most_nmse_of(owner[i], e.type.dtype)) << owner[i];
  }
}

// HEDDLE_PTX_ALL: every group instead of each fifth.
INSTANTIATE_TEST_SUITE_P(Groups, PtxKernels,
                         ::testing::Range(size_t{0}, groups().size(),
                                          std::getenv("HEDDLE_PTX_ALL") == nullptr ? size_t{5} : size_t{1}));

// Partial results of blocks are read in words of their own size: of 16 bits none may lose its upper half.
TEST(PtxTotals, OfEveryIntegerTypeAreWhole) {
  if (!runtime::find_nvrtc().found) GTEST_SKIP() << "no NVRTC on this machine";
  Module module;
  Graph& g = module.graphs.emplace_back();
  g.name = "totals";
  Builder b(g);
  NamedTensors inputs;
  for (const DType dtype : {DType::i8, DType::i16, DType::i32, DType::i64}) {
    const Type type{dtype, {300, 33}};
    const ValueId x = g.add_input(to_string(dtype), type, Role::input);
    inputs[to_string(dtype)] = random_tensor(type, 0, 1, 100, 1);
    const ValueId rows = b("reduce_sum", {x}, {{"axes", std::vector<int64_t>{1}}}, to_string(dtype) + "_rows");
    const ValueId total = b("reduce_sum", {rows}, {{"axes", std::vector<int64_t>{0}}}, to_string(dtype) + "_total");
    g.outputs.insert(g.outputs.end(), {rows, total});  // in one kernel, whose blocks have partial results
  }
  const Both both = run_both(std::move(module), inputs);
  for (size_t i = 0; i < 8; ++i) {
    const std::string output = "output " + std::to_string(i);
    EXPECT_EQ(agreement(both.host.at(output), both.interpreter.at(output)).fault, "") << output;
  }
}

// The teams of a block and the blocks meet without waiting for memory again and again: each load of global memory takes
// most of a microsecond.
TEST(PtxTotals, FewLoadsDependOnOneAnother) {
  if (!runtime::find_nvrtc().found) GTEST_SKIP() << "no NVRTC on this machine";
  Module module;
  Graph& g = module.graphs.emplace_back();
  g.name = "sums";
  Builder b(g);
  NamedTensors inputs;
  for (const int64_t columns : {10, 64, 300, 3000}) {
    const std::string name = "x" + std::to_string(columns);
    const Type type{DType::f32, {512, columns}};
    const ValueId x = g.add_input(name, type, Role::input);
    inputs[name] = random_tensor(type, 0, -1, 1, 1);
    const ValueId sums = b("reduce_sum", {x}, {{"axes", std::vector<int64_t>{0}}}, name + "_sums");
    const ValueId most = b("reduce_max", {x}, {{"axes", std::vector<int64_t>{0, 1}}}, name + "_most");
    g.outputs.insert(g.outputs.end(), {sums, most});
  }
  PtxOptions options;
  options.launch.chains = true;
  const Both both = run_both(std::move(module), inputs, options);
  for (const auto& [name, expected] : both.host) EXPECT_LE(agreement(expected, both.interpreter.at(name)).nmse, 1e-12);
  EXPECT_LE(both.longest_chain, 8U);
}

}  // namespace
}  // namespace heddle::testing
