// The machine code of products through tiles, in every schedule of the cases that are executed
// elsewhere: no register is spilled on any architecture. A schedule is compiled for one of them,
// the next schedule for the next.
#include <gtest/gtest.h>

#include "codegen/lower.h"
#include "ir/kernel/target.h"
#include "runtime/cuda/nvrtc.h"
#include "runtime/files/temporary.h"
#include "tests/numeric/contract_cases.h"
#include "tests/support/each_nth.h"

namespace heddle::testing {
namespace {

constexpr const char* kArchitectures[] = {"sm_80", "sm_89", "sm_90a", "sm_100", "sm_120"};

TEST(ContractCuda, SpillsNothing) {
  if (!runtime::find_nvrtc().found) GTEST_SKIP() << "no NVRTC on this machine";
  const runtime::TemporaryFolder folder;
  const runtime::KernelCache cache(folder.path());
  size_t next = 0;
  for (const std::vector<ContractCase>& group : each_nth(3, contract_groups())) {
    const std::string arch = kArchitectures[next++ % std::size(kArchitectures)];
    SCOPED_TRACE(to_string(group[0].choice) + " for " + arch);
    const codegen::Program program = codegen::lower(planned(group), "contract", ir::h200());
    const runtime::CudaBinary binary = runtime::compile_for_cuda(program.source, {.arch = arch}, cache);
    EXPECT_EQ(binary.kernels.size(), program.kernels.size());
    for (const runtime::KernelResources& k : binary.kernels) EXPECT_EQ(k.spill_bytes, 0) << k.name;
  }
}

}  // namespace
}  // namespace heddle::testing
