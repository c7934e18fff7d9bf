// Long sums of every operator that adds, as a GPU's kernels, against exact ones (tests/sums).
// HEDDLE_SUMS_FIRST, HEDDLE_SUMS_COUNT and HEDDLE_SUMS_MOST say which cases, and how many terms
// they have at most:
//
//   HEDDLE_SUMS_COUNT=200 HEDDLE_SUMS_MOST=1000000 heddle_ptx_tests --gtest_filter=*LongSums*
#include "runtime/cuda/nvrtc.h"
#include "tests/ptx/ptx_device.h"
#include "tests/sums/campaign.h"

namespace heddle::testing {
namespace {

TEST(PtxLongSums, KeepTheirBound) {
  if (!runtime::find_nvrtc().found) GTEST_SKIP() << "no NVRTC on this machine";
  expect_sums({.draw = {.most = 3000}, .target = ir::h200(), .device = [] { return std::make_unique<PtxDevice>(); }},
              16);
}

}  // namespace
}  // namespace heddle::testing
