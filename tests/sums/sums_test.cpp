// Long sums of every operator that adds, on the host, against exact ones. A case's number gives its
// input. HEDDLE_SUMS_FIRST and HEDDLE_SUMS_COUNT say which cases, HEDDLE_SUMS_MOST how many terms
// they have at most, HEDDLE_SUMS_OF which family alone ("product", "prefix", .. in sum_case.cpp):
//
//   HEDDLE_SUMS_COUNT=2000 HEDDLE_SUMS_MOST=100000000 heddle_sums_tests
#include "tests/sums/campaign.h"

namespace heddle::testing {
namespace {

// Among fewer terms a sum that joins its own type is within the bound.
constexpr int64_t kMost = HEDDLE_SANITIZED ? 100'000 : 4'000'000;

TEST(LongSums, KeepTheirBoundOnTheHost) { expect_sums(on_host(kMost), 48); }

}  // namespace
}  // namespace heddle::testing
