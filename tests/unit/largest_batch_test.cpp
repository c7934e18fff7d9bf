#include "tools/driver/largest_batch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tools/driver/plan_within.h"

namespace heddle::driver {
namespace {

// The answer, each number of rows asked at most once, and how often.
struct Asked {
  LargestBatch found;
  size_t times = 0;
};
Asked ask(const BatchSearch& search, const std::function<int64_t(int64_t)>& bytes) {
  std::set<int64_t> seen;
  const LargestBatch found = largest_batch(search, [&](int64_t rows) {
    EXPECT_TRUE(seen.insert(rows).second) << rows;
    EXPECT_EQ(rows % search.step, 0);
    EXPECT_LE(rows, std::max(search.most, search.step));
    return bytes(rows);
  });
  return {found, seen.size()};
}

// 10 bytes and 3 of each row: (1000 - 10) / 3 = 330.
TEST(LargestBatch, OfALineTakesFewPlans) {
  for (const int64_t first : {1, 32, 330, 331, 5000}) {
    const Asked asked = ask({.first = first, .most = 1 << 20, .limit = 1000}, [](int64_t n) { return 10 + 3 * n; });
    EXPECT_EQ(asked.found.rows, 330) << first;
    EXPECT_EQ(asked.found.next, 331) << first;
    EXPECT_LE(asked.times, 5U) << first;
  }
}

// Memory is rounded up, and jumps where a library cuts a batch into more slices.
TEST(LargestBatch, OfStepsIsConfirmedAtBothSides) {
  const auto bytes = [](int64_t n) { return (n + 7) / 8 * 256 + (n > 100 ? 4096 : 0) + n / 13 * 64; };
  for (int64_t limit = 300; limit < 40000; limit += 97) {
    const Asked asked = ask({.first = 32, .most = 1 << 20, .limit = limit}, bytes);
    EXPECT_LE(asked.found.rows > 0 ? bytes(asked.found.rows) : 0, limit);
    EXPECT_GT(bytes(asked.found.next), limit);
    EXPECT_EQ(asked.found.next, asked.found.rows + 1);
    EXPECT_LE(asked.times, 16U);
  }
}

TEST(LargestBatch, EndsWhereTheRowsEnd) {
  const auto bytes = [](int64_t n) { return n; };
  const Asked all = ask({.first = 32, .most = 100, .limit = 1000}, bytes);
  EXPECT_EQ(all.found.rows, 100);
  EXPECT_EQ(all.found.next, 0);
  const Asked fewer = ask({.first = 64, .most = 40, .limit = 1000}, bytes);
  EXPECT_EQ(fewer.found.rows, 40);
  const Asked none = ask({.first = 32, .most = 100, .limit = 10}, [](int64_t n) { return n + 10; });
  EXPECT_EQ(none.found.rows, 0);
  EXPECT_EQ(none.found.next, 1);
}

TEST(LargestBatch, IsOfWholeMicroBatches) {
  const Asked asked = ask({.first = 32, .step = 4, .most = 1001, .limit = 103}, [](int64_t n) { return n; });
  EXPECT_EQ(asked.found.rows, 100);
  EXPECT_EQ(asked.found.next, 104);
}

// A shape that no limit allows.
TEST(LargestBatch, PassesByWhatCannotBe) {
  const auto bytes = [](int64_t n) { return n > 700 ? INT64_MAX : n; };
  const Asked asked = ask({.first = 32, .most = 1 << 20, .limit = 100000}, bytes);
  EXPECT_EQ(asked.found.rows, 700);
  EXPECT_EQ(asked.found.next, 701);
}

TEST(FewestThatFit, IsFoundByHalving) {
  for (size_t least = 0; least <= 9; ++least) {
    size_t last = 99;
    const auto found = fewest_that_fit(9, [&](size_t n) {
      const bool fits = n >= least;
      if (fits) last = n;
      return fits;
    });
    EXPECT_EQ(found, least);
    EXPECT_EQ(last, least);
  }
  EXPECT_FALSE(fewest_that_fit(9, [](size_t) { return false; }));
  EXPECT_FALSE(fewest_that_fit(0, [](size_t) { return false; }));
  EXPECT_EQ(fewest_that_fit(0, [](size_t) { return true; }), 0U);
}

// Computing the last block again frees nothing, and may take room of its own.
TEST(FewestThatFit, IsOfAllButTheLastWhereAllTakeMore) {
  for (size_t least = 1; least <= 8; ++least)
    EXPECT_EQ(fewest_that_fit(9, [&](size_t n) { return n >= least && n <= 8; }), least);
  EXPECT_FALSE(fewest_that_fit(1, [](size_t n) { return n > 1; }));
}

}  // namespace
}  // namespace heddle::driver
