// Partners: the pairs of groups that fuse tries to merge. The number of partners of a group does not grow with the
// graph.
//
// These groups are partners: producer and consumer; siblings, which read a common value (if many do, those nearby in
// program order); and small groups, for which a launch costs more than the work (those nearby among all small groups).
// A group that computes a single element or reads nothing has partners among all groups, again those nearby.
#pragma once
#include <set>
#include <vector>

#include "passes/fuse/groups.h"

namespace heddle::passes {

class Partners {
 public:
  explicit Partners(const Groups& groups);

  std::vector<int> of(int group) const;  // sorted, distinct
  void remove(int group);                // must be called before the group changes
  void add(int group);

  static bool small(const Group& group) { return group.points <= kSmallPoints; }
  // Whether the group fits into any kernel: it computes a single element, or reads nothing.
  static bool anywhere(const Group& group) { return group.points == 1 || group.reads.empty(); }

 private:
  static constexpr int64_t kSmallPoints = 1024;

  const Groups& groups_;
  std::vector<std::set<int>> readers_;  // by ValueId index
  std::set<int> all_, small_, anywhere_;
};

}  // namespace heddle::passes
