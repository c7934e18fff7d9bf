#include "passes/memory/occupied.h"

#include <gtest/gtest.h>

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

// What the tree says is taken, byte by byte, is what the items that live at the same time take.
TEST(Occupied, HoldsWhatIsTakenAtAnyStepOfAnItem) {
  constexpr int64_t kSteps = 21, kBytes = 40;
  std::mt19937 random(5);
  const auto below = [&](int64_t bound) { return static_cast<int64_t>(random()) % bound; };
  for (int round = 0; round < 200; ++round) {
    Occupied occupied(kSteps);
    std::vector<std::pair<ir::Interval, int64_t>> placed;
    for (int64_t i = below(12); i > 0; --i) {
      const int64_t begin = below(kSteps), bytes = 1 + below(8);
      placed.push_back({{begin, begin + 1 + below(kSteps - begin), bytes}, below(kBytes - bytes)});
      occupied.add(placed.back().first, placed.back().second);
    }
    const int64_t begin = below(kSteps);
    const ir::Interval asked{begin, begin + 1 + below(kSteps - begin), 1};
    std::vector<char> expected(kBytes, 0), found(kBytes, 0);
    for (const auto& [item, offset] : placed)
      if (item.begin < asked.end && asked.begin < item.end) std::fill_n(expected.begin() + offset, item.bytes, char{1});
    std::vector<Range> taken;
    occupied.collect(asked, taken);
    for (const Range& r : taken) std::fill(found.begin() + r.from, found.begin() + r.to, char{1});
    ASSERT_EQ(found, expected) << "round " << round;
  }
}

}  // namespace
}  // namespace heddle::passes
