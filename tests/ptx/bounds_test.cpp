// What every kernel of every model must keep to on an H200, by the counts that counts_test.cpp holds against the
// interpreter's.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

#include "ir/kernel/cost.h"
#include "tests/ptx/planned_model.h"

namespace heddle::testing {
namespace {

std::vector<std::string> broken_bounds(const ir::Graph& kernel, const ir::Target& target) {
  const ir::Cost cost = ir::kernel_cost(kernel, target);
  const ir::KernelCounts& c = *cost.counts;
  constexpr double kMostWavefronts = 4, kMostWaits = 8;
  constexpr int64_t kMuch = int64_t{1} << 20;
  std::vector<std::string> broken;
  if (c.shared_wavefronts > kMostWavefronts * c.ideal_wavefronts)
    broken.push_back(fmt::format("wavefronts: {:.0f}, ideal {:.0f}", c.shared_wavefronts, c.ideal_wavefronts));
  if (cost.bytes() > kMuch && c.blocks < target.sm_count)
    broken.push_back(fmt::format("blocks: {} for {} bytes", c.blocks, cost.bytes()));
  if (c.dependent_after_last > kMostWaits)
    broken.push_back(fmt::format("waits: {:.0f} loads one after another behind the last row", c.dependent_after_last));
  return broken;
}

class KernelBounds : public ::testing::TestWithParam<std::string> {};

TEST_P(KernelBounds, AreKept) {
  const ir::Target target = ir::h200();
  const PlannedModel model = plan_model(GetParam(), /*small=*/false, target);
  for (const codegen::Kernel& k : model.program.kernels)
    for (const std::string& broken : broken_bounds(*model.module.find_kernel(k.title), target))
      ADD_FAILURE() << k.title << ": " << broken;
}

// At their published sizes these have kernels of too few blocks, which is to be mended: sums into the few rows of a
// table (bert_base: 1 block for 12.6 MB; t5_small's table of positions), the gradient of one row that all pictures share
// (vit_small: 8 blocks for 19.4 MB), and t5_small's norms and softmax. The statistics of byol_small's norms wait for 9
// loads one after another.
const std::set<std::string> kOfFewBlocks = {"bert_base", "byol_small", "t5_small", "vit_small"};

INSTANTIATE_TEST_SUITE_P(All, KernelBounds, ::testing::ValuesIn(model_names(kOfFewBlocks)),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace heddle::testing
