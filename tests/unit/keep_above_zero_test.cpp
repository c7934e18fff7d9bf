#include "runtime/host/keep_above_zero.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace heddle::runtime {
namespace {

TEST(KeepAboveZero, EverySpecialValue) {
  std::vector<float> x = {NAN, -NAN, INFINITY, -INFINITY, 1, -1, 1e-40F, -1e-40F, 0};
  keep_above_zero(x.data(), static_cast<int64_t>(x.size()));
  EXPECT_TRUE(std::isnan(x[0]));
  EXPECT_TRUE(std::isnan(x[1]));
  EXPECT_EQ(std::vector<float>(x.begin() + 2, x.end()), (std::vector<float>{INFINITY, 0, 1, 0, 1e-40F, 0, 0}));
}

// Around whole vectors: nothing beyond the count is touched.
TEST(KeepAboveZero, EveryLength) {
  for (size_t count = 0; count < 70; ++count) {
    std::vector<float> x(count + 3);
    for (size_t i = 0; i < x.size(); ++i) x[i] = i % 3 == 0 ? NAN : i % 3 == 1 ? -1.0F : 2.0F;
    keep_above_zero(x.data() + 1, static_cast<int64_t>(count));
    for (size_t i = 0; i < x.size(); ++i) {
      const float want = i % 3 == 2 ? 2.0F : i > 0 && i <= count ? 0.0F : -1.0F;
      EXPECT_TRUE(i % 3 == 0 ? std::isnan(x[i]) : x[i] == want) << "element " << i << " of " << count;
    }
  }
}

}  // namespace
}  // namespace heddle::runtime
