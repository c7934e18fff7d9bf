// Which groups fuse tries to make one: a number of partners for each group that does not grow with
// the graph.
//
// Neighbours are partners: producer and consumer. So are siblings, groups that read a common value;
// of many that read one value, those next to each other in program order. And so are small groups,
// where a launch costs more than the work: those next to each other among all small ones, and among
// all groups where one computes a single element or reads nothing.
#pragma once
#include <set>
#include <vector>

#include "passes/fuse/groups.h"

namespace heddle::passes {

class Partners {
 public:
  explicit Partners(const Groups& groups);

  std::vector<int> of(int group) const;  // sorted, distinct
  void remove(int group);                // before it changes
  void add(int group);

  static bool small(const Group& group) { return group.points <= kSmallPoints; }
  // Fits into any kernel: computes a single element, or something from nothing.
  static bool anywhere(const Group& group) { return group.points == 1 || group.reads.empty(); }

 private:
  static constexpr int64_t kSmallPoints = 1024;

  const Groups& groups_;
  std::vector<std::set<int>> readers_;  // by ValueId index
  std::set<int> all_, small_, anywhere_;
};

}  // namespace heddle::passes
