// The preamble's host branch, called directly: accuracy and edges of its functions, conversions of 16-bit types.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#define HD_HOST
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wpass-failed"
#endif
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#include "codegen/device/1_target.cuh"
#include "codegen/device/2_types.cuh"
#include "codegen/device/3_math.cuh"
#include "codegen/device/4_random.cuh"
#include "codegen/device/5_monoids.cuh"

namespace heddle {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// The distance of a float from the exact value, in units in the last place of the latter.
double ulps(float got, double exact) {
  const float nearest = static_cast<float>(exact);
  if (got == nearest) return 0;
  const double unit = std::ldexp(1.0, std::max(std::ilogb(exact), -126) - 23);
  return std::abs(static_cast<double>(got) - exact) / unit;
}

double worst(float (*f)(float), double (*exact)(double), float low, float high) {
  std::mt19937 rng(1);
  std::uniform_real_distribution<float> uniform(low, high);
  double most = 0;
  for (int i = 0; i < 200000; ++i) {
    const float x = uniform(rng);
    most = std::max(most, ulps(f(x), exact(x)));
  }
  return most;
}

float exp32(float x) { return hd::exp(x); }
float log32(float x) { return hd::log(x); }
float log1p32(float x) { return hd::log1p(x); }
float expm132(float x) { return hd::expm1(x); }
float tanh32(float x) { return hd::tanh(x); }
float erf32(float x) { return hd::erf(x); }

TEST(DeviceMath, WithinTwoAndAHalfUnitsInTheLastPlace) {
  EXPECT_LE(worst(exp32, std::exp, -86, 88.7F), 2.5);
  EXPECT_LE(worst(exp32, std::exp, -1, 1), 2.5);
  EXPECT_LE(worst(log32, std::log, 0, 4), 2.5);
  EXPECT_LE(worst(log32, std::log, 0.9F, 1.1F), 2.5);
  EXPECT_LE(worst(log32, std::log, 0, 1e30F), 2.5);
  EXPECT_LE(worst(log1p32, std::log1p, -0.9F, 10), 2.5);
  EXPECT_LE(worst(log1p32, std::log1p, -1e-3F, 1e-3F), 2.5);
  EXPECT_LE(worst(expm132, std::expm1, -10, 10), 2.5);
  EXPECT_LE(worst(expm132, std::expm1, -1e-3F, 1e-3F), 2.5);
  EXPECT_LE(worst(tanh32, std::tanh, -10, 10), 2.5);
  EXPECT_LE(worst(tanh32, std::tanh, -1e-2F, 1e-2F), 2.5);
  EXPECT_LE(worst(erf32, std::erf, -4, 4), 2.5);
  EXPECT_LE(worst(erf32, std::erf, -1e-2F, 1e-2F), 2.5);
}

// Of the other functions what is written here, not the system's. By Wichura's values of the normal quantile (Applied
// Statistics 37, 1988, AS 241): erf_inv(x) = quantile((x + 1) / 2) / sqrt(2).
TEST(DeviceMath, InverseErrorFunction) {
  EXPECT_NEAR(hd::erf_inv(2 * 0.25 - 1), -0.6744897501960817 / std::sqrt(2.0), 1e-15);
  EXPECT_NEAR(hd::erf_inv(2 * 0.001 - 1), -3.090232306167814 / std::sqrt(2.0), 1e-13);
  for (const double y : {1e-300, 1e-12, 1e-4, 0.1, 0.4769, 1.0, 2.0, 3.0})
    EXPECT_NEAR(hd::erf_inv(std::erf(y)), y, y * (y < 1.5 ? 1e-14 : 1e-9)) << y;
}

TEST(DeviceMath, Edges) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(hd::exp(-kInfinity), 0.0F);
  EXPECT_EQ(hd::exp(-200.0F), 0.0F);
  EXPECT_EQ(hd::exp(kInfinity), kInfinity);
  EXPECT_EQ(hd::exp(89.0F), kInfinity);
  EXPECT_EQ(hd::exp(0.0F), 1.0F);
  EXPECT_TRUE(std::isnan(hd::exp(nan)));
  EXPECT_EQ(hd::log(0.0F), -kInfinity);
  EXPECT_EQ(hd::log(1.0F), 0.0F);
  EXPECT_EQ(hd::log(kInfinity), kInfinity);
  EXPECT_TRUE(std::isnan(hd::log(-1.0F)));
  EXPECT_TRUE(std::isnan(hd::log(nan)));
  EXPECT_LE(ulps(hd::log(1e-42F), std::log(static_cast<double>(1e-42F))), 2);
  EXPECT_EQ(hd::log1p(-1.0F), -kInfinity);
  EXPECT_EQ(hd::log1p(0.0F), 0.0F);
  EXPECT_EQ(hd::log1p(kInfinity), kInfinity);
  EXPECT_TRUE(std::isnan(hd::log1p(-2.0F)));
  EXPECT_EQ(hd::expm1(-kInfinity), -1.0F);
  EXPECT_EQ(hd::expm1(kInfinity), kInfinity);
  EXPECT_EQ(hd::expm1(0.0F), 0.0F);
  EXPECT_EQ(hd::tanh(kInfinity), 1.0F);
  EXPECT_EQ(hd::tanh(-kInfinity), -1.0F);
  EXPECT_TRUE(std::isnan(hd::tanh(nan)));
  EXPECT_EQ(hd::erf(kInfinity), 1.0F);
  EXPECT_EQ(hd::erf(-kInfinity), -1.0F);
  EXPECT_TRUE(std::isnan(hd::erf(nan)));
  EXPECT_TRUE(std::isnan(hd::max(nan, 1.0F)));
  EXPECT_TRUE(std::isnan(hd::max(1.0F, nan)));
  EXPECT_TRUE(std::isnan(hd::min(1.0F, nan)));
}

TEST(DeviceTypes, EveryHalfReadsBack) {
  for (unsigned word = 0; word < 65536; ++word) {
    hd::half h;
    h.word = static_cast<unsigned short>(word);
    const float x = h;
    if (std::isnan(x)) continue;
    EXPECT_EQ(hd::half(x).word, h.word) << word;
    EXPECT_EQ(x, std::ldexp(static_cast<double>(word & 0x3FF) + ((word >> 10 & 31) != 0 ? 1024 : 0),
                            std::max<int>(word >> 10 & 31, 1) - 25) *
                     (word >> 15 != 0 ? -1 : 1) * ((word >> 10 & 31) == 31 ? kInfinity : 1));
  }
}

TEST(DeviceTypes, RoundingToSixteenBits) {
  EXPECT_EQ(static_cast<float>(hd::half(1.0F + 0x1p-11F)), 1.0F);                // a tie goes to the even neighbour
  EXPECT_EQ(static_cast<float>(hd::half(1.0F + 3 * 0x1p-11F)), 1.0F + 0x1p-9F);  // and so does the next
  EXPECT_EQ(static_cast<float>(hd::half(65519.0F)), 65504.0F);
  EXPECT_EQ(static_cast<float>(hd::half(65520.0F)), kInfinity);
  EXPECT_EQ(static_cast<float>(hd::half(0x1p-25F)), 0.0F);
  EXPECT_EQ(static_cast<float>(hd::half(1.5F * 0x1p-25F)), 0x1p-24F);
  EXPECT_EQ(static_cast<float>(hd::bf16(1.0F + 0x1p-8F)), 1.0F);
  EXPECT_EQ(static_cast<float>(hd::bf16(1.0F + 3 * 0x1p-8F)), 1.0F + 0x1p-6F);
  EXPECT_EQ(static_cast<float>(hd::bf16(kInfinity)), kInfinity);
  EXPECT_TRUE(std::isnan(static_cast<float>(hd::bf16(std::numeric_limits<float>::quiet_NaN()))));
}

TEST(DeviceTypes, CastsTruncateAndSaturate) {
  EXPECT_EQ(hd::cast<int>(-2.9F), -2);
  EXPECT_EQ(hd::cast<int>(3e9F), std::numeric_limits<int>::max());
  EXPECT_EQ(hd::cast<int>(-kInfinity), std::numeric_limits<int>::min());
  EXPECT_EQ(hd::cast<int>(std::numeric_limits<float>::quiet_NaN()), 0);
  EXPECT_EQ(hd::cast<hd::u8>(300.0F), 255);
  EXPECT_EQ(hd::cast<hd::u8>(-1.0F), 0);
  EXPECT_EQ(hd::cast<hd::u8>(257), 1);
  EXPECT_EQ(hd::cast<bool>(0.5F), true);
}

TEST(DeviceMonoids, TheFirstOfEqualsWinsInAnyOrderOfMerging) {
  hd::ArgMax<float> low, high, empty;
  low.add(2, 3);
  low.add(2, 5);
  high.add(2, 1);
  hd::ArgMax<float> a = low, b = high;
  a.merge(high);
  b.merge(low);
  a.merge(empty);
  EXPECT_EQ(a.index, 1);
  EXPECT_EQ(b.index, 1);
  a.add(std::numeric_limits<float>::quiet_NaN(), 9);
  a.add(7, 10);
  EXPECT_EQ(a.index, 9);  // nan is larger than anything
}

// Two doubles for a long sum of doubles: what rounding the first one loses is in the second, whichever of the two that are
// added is larger.
TEST(DeviceMonoids, ALongSumOfDoublesLosesNothing) {
  hd::Wide<double, 2> sums;
  for (const double x : {1.0, 0x1p60, 3.0, -0x1p60}) sums.add(1, x);
  EXPECT_EQ(sums.result(1), 4);
  EXPECT_EQ(sums.result(0), 0);
}

TEST(DeviceMonoids, ALongSumOfDoublesMayBeInfinite) {
  const double infinite = std::numeric_limits<double>::infinity();
  hd::Wide<double, 1> sums, opposite;
  for (const double x : {1.0, infinite, 2.0}) sums.add(0, x);
  EXPECT_EQ(sums.result(0), infinite);
  for (const double x : {-infinite, infinite}) opposite.add(0, x);
  EXPECT_TRUE(std::isnan(opposite.result(0)));
}

// Each of the small ones is less than half of what a double of 1 can tell.
template <class A>
A sum_in_order(A small) {
  constexpr int kTurns = 1024;
  hd::SumInOrder<hd::Sum<A>, 1, kTurns> sums;
  sums.start(0, A(1));
  for (int i = 1; i <= kTurns; ++i) {
    sums.add(0, small);
    if (i % hd::kRun == 0) sums.end_run();
  }
  return sums.so_far(0);
}
TEST(DeviceMonoids, ALongSumInOrderIsInRuns) {
  EXPECT_EQ(sum_in_order<double>(0x1p-54), 1 + 0x1p-44);
  EXPECT_EQ(sum_in_order<float>(0x1p-25F), 1 + 0x1p-15F);
  EXPECT_EQ(sum_in_order<int>(2), 2049);
}

TEST(DeviceRandom, GroupsDrawWhatSingleElementsDraw) {
  for (hd::i64 i = 0; i < 64; ++i) {
    const hd::Element e{i / 4 * 4, static_cast<int>(i % 4)};
    EXPECT_EQ(hd::random_uniform<float>(3, 4, 5, i), hd::random_uniform<float>(3, 4, 5, e));
    EXPECT_EQ(hd::random_normal<double>(3, 4, 5, i), hd::random_normal<double>(3, 4, 5, e));
  }
}

}  // namespace
}  // namespace heddle
