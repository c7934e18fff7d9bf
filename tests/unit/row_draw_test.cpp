// Rows of an epoch that are drawn with replacement.
#include "runtime/data/row_draw.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

namespace heddle::runtime::data {
namespace {

std::vector<double> shares(const RowDraw& draw, size_t rows, int64_t count, uint64_t seed) {
  std::vector<double> found(rows);
  for (const uint32_t row : drawn_order(draw, count, seed, 0)) found.at(row) += 1.0 / static_cast<double>(count);
  return found;
}

// Within five standard deviations of a share p of n places.
void expect_share(double found, double p, int64_t n) {
  EXPECT_NEAR(found, p, 5 * std::sqrt(p * (1 - p) / static_cast<double>(n)) + 1e-12);
}

TEST(RowDraw, ClassesAreAsLikelyAsOneAnother) {
  const RowDraw draw = balanced_draw({.of_row = {0, 2, 0, 1, 0, 0, kNoKind, 2}, .count = 3});
  constexpr int64_t kPlaces = 60'000;
  const std::vector<double> found = shares(draw, 8, kPlaces, 7);
  for (const size_t row : {0U, 2U, 4U, 5U}) expect_share(found[row], 1.0 / 12, kPlaces);
  for (const size_t row : {1U, 7U}) expect_share(found[row], 1.0 / 6, kPlaces);
  expect_share(found[3], 1.0 / 3, kPlaces);
  EXPECT_EQ(found[6], 0);
}

TEST(RowDraw, RowsAreAsFrequentAsTheirWeightsSay) {
  constexpr int64_t kPlaces = 60'000;
  const std::vector<double> found = shares(weighted_draw({0, 1, 0, 3, 0.5, 0}), 6, kPlaces, 3);
  for (const size_t row : {0U, 2U, 5U}) EXPECT_EQ(found[row], 0);
  expect_share(found[1], 1 / 4.5, kPlaces);
  expect_share(found[3], 3 / 4.5, kPlaces);
  expect_share(found[4], 0.5 / 4.5, kPlaces);
}

// Sums that round, and weights of very different sizes, never draw a row of weight 0.
TEST(RowDraw, ExtremeWeights) {
  constexpr double kTiny = std::numeric_limits<double>::denorm_min(), kHuge = std::numeric_limits<double>::max();
  for (const std::vector<double>& weights :
       {std::vector<double>{0, kTiny, 0}, {0, 1, kTiny, 0}, {0, kHuge, 0}, {kTiny, kTiny, 0}, {1e300, 1, 0}}) {
    const std::vector<double> found = shares(weighted_draw(weights), weights.size(), 2'000, 5);
    for (size_t row = 0; row < weights.size(); ++row) EXPECT_TRUE(weights[row] > 0 || found[row] == 0) << row;
  }
}

// A place has its row, however many places there are: so a training goes on in the middle of an epoch.
TEST(RowDraw, APlaceIsAFunctionOfSeedAndEpoch) {
  const RowDraw balanced = balanced_draw({.of_row = {0, 1, 1, 1, 0, 1}, .count = 2});
  const RowDraw weighted = weighted_draw({1, 2, 3, 4, 5, 6});
  for (const RowDraw* draw : {&balanced, &weighted}) {
    const std::vector<uint32_t> all = drawn_order(*draw, 100, 9, 4);
    EXPECT_EQ(drawn_order(*draw, 100, 9, 4), all);
    EXPECT_TRUE(std::ranges::equal(drawn_order(*draw, 60, 9, 4), std::span(all).first(60)));
    EXPECT_NE(drawn_order(*draw, 100, 9, 5), all);
    EXPECT_NE(drawn_order(*draw, 100, 8, 4), all);
  }
}

// The numbers themselves, by a second implementation in Python: another machine and a later version draw the same.
TEST(RowDraw, GoldenRows) {
  EXPECT_EQ(drawn_order(balanced_draw({.of_row = {0, 1, 1, 1, 0, 1}, .count = 2}), 8, 1, 0),
            (std::vector<uint32_t>{0, 4, 0, 2, 4, 4, 1, 0}));
  EXPECT_EQ(drawn_order(weighted_draw({1, 2, 3, 4, 5, 6}), 8, 1, 0), (std::vector<uint32_t>{1, 1, 2, 4, 4, 1, 5, 1}));
}

}  // namespace
}  // namespace heddle::runtime::data
