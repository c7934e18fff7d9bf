// Products through tiles in the interpreter, in every schedule of the cases that the host executes: no finding, and the
// host's numbers.
#include <gtest/gtest.h>

#include <cstdlib>

#include "codegen/lower.h"
#include "runtime/cuda/nvrtc.h"
#include "runtime/host/host_device.h"
#include "tests/numeric/contract_cases.h"
#include "tests/numeric/harness.h"
#include "tests/ptx/agreement.h"
#include "tests/ptx/program_run.h"

namespace heddle::testing {
namespace {

using namespace ir;
using Group = std::vector<ContractCase>;

NamedTensors inputs_of(const codegen::Entry& entry) {
  NamedTensors all;
  for (const codegen::Buffer& b : entry.inputs)
    all.emplace(b.name, random_tensor({parse_dtype(b.dtype).value(), b.dims}, -1, 1, 4, hash_text(b.name)));
  return all;
}

class PtxProducts : public ::testing::TestWithParam<Group> {};

TEST_P(PtxProducts, AgreeWithTheHost) {
  if (!runtime::find_nvrtc().found) GTEST_SKIP() << "no NVRTC on this machine";
  const codegen::Program program = codegen::lower(planned(GetParam()), "products", h200());
  runtime::HostDevice host({.threads = 1, .kernel_cache = {}});
  PtxDevice device;
  ProgramRun expected(program, host), got(program, device);
  for (size_t c = 0; c < GetParam().size(); ++c) {
    const codegen::Entry& entry = program.entries[c];
    SCOPED_TRACE(GetParam()[c].name);
    for (ProgramRun* run : {&expected, &got}) {
      run->write(entry, inputs_of(entry));
      run->run(entry);
    }
    const Images a = expected.read(entry), b = got.read(entry);
    for (const auto& [name, tensor] : a) {
      const Agreement together = agreement(tensor, b.at(name));
      EXPECT_EQ(together.fault, "") << name;
      EXPECT_LE(together.nmse, most_nmse(tensor.type.dtype)) << name;
    }
  }
  for (const ptx::Finding& f : device.findings()) ADD_FAILURE() << to_string(f);
}

// HEDDLE_PTX_ALL: every schedule instead of each sixth.
std::vector<Group> groups() {
  std::vector<Group> some;
  const std::vector<Group> all = contract_groups();
  for (size_t i = 0; i < all.size(); i += std::getenv("HEDDLE_PTX_ALL") == nullptr ? 6 : 1) some.push_back(all[i]);
  return some;
}

INSTANTIATE_TEST_SUITE_P(Schedules, PtxProducts, ::testing::ValuesIn(groups()),
                         [](const auto& info) { return to_string(info.param[0].choice); });

}  // namespace
}  // namespace heddle::testing
