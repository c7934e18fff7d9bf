#include "passes/memory/occupied.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace heddle::passes {
namespace {

TEST(RangeSet, JoinsRangesThatTouch) {
  RangeSet set;
  set.add({0, 2});
  set.add({6, 8});
  EXPECT_EQ(set.ranges(), (std::vector<Range>{{0, 2}, {6, 8}}));
  set.add({2, 3});
  EXPECT_EQ(set.ranges(), (std::vector<Range>{{0, 3}, {6, 8}}));
  set.add({1, 7});
  EXPECT_EQ(set.ranges(), (std::vector<Range>{{0, 8}}));
}

TEST(RangeSet, LosesAPartOfARange) {
  RangeSet set;
  set.add({0, 8});
  set.remove({2, 4});
  EXPECT_EQ(set.ranges(), (std::vector<Range>{{0, 2}, {4, 8}}));
  set.remove({0, 2});
  set.remove({6, 8});
  EXPECT_EQ(set.ranges(), (std::vector<Range>{{4, 6}}));
  set.remove({4, 6});
  EXPECT_TRUE(set.ranges().empty());
}

// The offset that the tree finds is the first where no item that lives at the same time takes a byte.
TEST(Occupied, FindsTheLowestGapOfAllStepsOfAnItem) {
  constexpr int64_t kSteps = 21, kBytes = 60;
  std::mt19937 random(5);
  const auto below = [&](int64_t bound) { return static_cast<int64_t>(random()) % bound; };
  for (int round = 0; round < 500; ++round) {
    Occupied occupied(kSteps);
    std::vector<std::pair<ir::Interval, int64_t>> placed;
    for (int64_t i = below(12); i > 0; --i) {
      const int64_t begin = below(kSteps), bytes = 1 + below(8);
      placed.push_back({{begin, begin + 1 + below(kSteps - begin), bytes}, below(40 - bytes)});
      occupied.add(placed.back().first, placed.back().second);
    }
    const int64_t begin = below(kSteps);
    const ir::Interval asked{begin, begin + 1 + below(kSteps - begin), 1 + below(6)};
    std::vector<char> taken(kBytes, 0);
    for (const auto& [item, offset] : placed)
      if (item.begin < asked.end && asked.begin < item.end) std::fill_n(taken.begin() + offset, item.bytes, char{1});
    for (const int64_t from : {int64_t{0}, below(40)}) {
      const auto expected = std::search_n(taken.begin() + from, taken.end(), asked.bytes, char{0}) - taken.begin();
      ASSERT_EQ(occupied.lowest_gap(asked, from), expected) << "round " << round << ", from " << from;
    }
  }
}

}  // namespace
}  // namespace heddle::passes
