#include "passes/fuse/group_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace heddle::passes {
namespace {

using Answer = GroupOrder::Separation::Answer;

// A graph of groups, with the merging that Groups does.
struct Dag {
  explicit Dag(int count) : preds(static_cast<size_t>(count)), succs(static_cast<size_t>(count)), order(count) {}
  Neighbours preds, succs;
  GroupOrder order;

  void edge(int from, int to) {
    succs[static_cast<size_t>(from)].insert(to);
    preds[static_cast<size_t>(to)].insert(from);
  }
  bool reaches(int from, int to, bool directly) const {
    std::vector<int> waiting;
    for (int next : succs[static_cast<size_t>(from)])
      if (next != to || directly) waiting.push_back(next);
    std::set<int> seen;
    while (!waiting.empty()) {
      const int i = waiting.back();
      waiting.pop_back();
      if (i == to) return true;
      if (!seen.insert(i).second) continue;
      waiting.insert(waiting.end(), succs[static_cast<size_t>(i)].begin(), succs[static_cast<size_t>(i)].end());
    }
    return false;
  }
  void merge(int kept, int gone, const GroupOrder::Separation& s) {
    order.merge(kept, gone, s);
    for (auto [forth, back] : {std::pair{&succs, &preds}, std::pair{&preds, &succs}}) {
      for (int other : std::exchange((*forth)[static_cast<size_t>(gone)], {})) {
        (*back)[static_cast<size_t>(other)].erase(gone);
        if (other == kept) continue;
        (*back)[static_cast<size_t>(other)].insert(kept);
        (*forth)[static_cast<size_t>(kept)].insert(other);
      }
      (*forth)[static_cast<size_t>(kept)].erase(gone);
    }
  }
  bool ordered() const {
    for (size_t from = 0; from < succs.size(); ++from)
      for (int to : succs[from])
        if (!order.before(static_cast<int>(from), to)) return false;
    return true;
  }
};

TEST(GroupOrder, KnowsNeighboursApartAndPathsThroughAThird) {
  Dag d(4);  // 0 -> 1 -> 2, 0 -> 2, and 3 alone
  d.edge(0, 1);
  d.edge(1, 2);
  d.edge(0, 2);
  EXPECT_EQ(d.order.separation(0, 1, d.preds, d.succs).answer, Answer::apart);
  EXPECT_EQ(d.order.separation(2, 0, d.preds, d.succs).answer, Answer::path);
  EXPECT_EQ(d.order.separation(3, 1, d.preds, d.succs).answer, Answer::apart);
}

// Merges random pairs of random graphs until nothing is left to merge: each answer is that of a whole search, and the
// order stays topological.
TEST(GroupOrder, AgreesWithASearchOfTheWholeGraphThroughEveryMerge) {
  std::mt19937 random(7);
  for (int round = 0; round < 60; ++round) {
    const int count = 2 + static_cast<int>(random() % 40);
    Dag d(count);
    for (int edge = 0; edge < count * 2; ++edge) {
      const int from = static_cast<int>(random() % static_cast<unsigned>(count - 1));
      d.edge(from, from + 1 + static_cast<int>(random() % static_cast<unsigned>(count - from - 1)));
    }
    std::vector<int> alive(static_cast<size_t>(count));
    for (int i = 0; i < count; ++i) alive[static_cast<size_t>(i)] = i;
    for (int tries = 0; tries < 300 && alive.size() > 1; ++tries) {
      const int a = alive[random() % alive.size()], b = alive[random() % alive.size()];
      if (a == b) continue;
      const GroupOrder::Separation s = d.order.separation(a, b, d.preds, d.succs);
      const bool path = d.reaches(a, b, false) || d.reaches(b, a, false);
      ASSERT_EQ(s.answer, path ? Answer::path : Answer::apart) << "round " << round;
      if (path) continue;
      d.merge(a, b, s);
      std::erase(alive, b);
      ASSERT_TRUE(d.ordered()) << "round " << round << " after merging " << b << " into " << a;
    }
  }
}

// All labels fall between the same two: the gap there is used up again and again.
TEST(GroupOrder, MakesRoomWhereManyGroupsMove) {
  constexpr int kCount = 3000;
  Dag d(kCount);
  for (int i = 1; i + 1 < kCount; ++i) {  // 0 -> i, and everything but 0 stands between 0 and the last
    d.edge(0, i);
  }
  for (int last = kCount - 1; last > 1; --last) {
    const GroupOrder::Separation s = d.order.separation(1, last, d.preds, d.succs);
    ASSERT_EQ(s.answer, Answer::apart);
    d.merge(1, last, s);
    ASSERT_TRUE(last % 100 != 0 || d.ordered());
  }
}

// A long search ends with "perhaps" instead of taking as long as the graph is large.
TEST(GroupOrder, GivesUpOnALongWay) {
  constexpr int kCount = 5000;
  Dag d(kCount);
  for (int i = 0; i + 2 < kCount; ++i) {
    d.edge(i, i + 1);
    d.edge(i, i + 2);
  }
  EXPECT_EQ(d.order.separation(0, kCount - 1, d.preds, d.succs).answer, Answer::unknown);
  EXPECT_EQ(d.order.separation(0, 20, d.preds, d.succs).answer, Answer::path);
}

}  // namespace
}  // namespace heddle::passes
