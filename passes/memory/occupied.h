// Occupied: the occupied ranges of the arena at each step, as a binary tree over the steps.
//
//          [0, 8)                 An item is noted at the fewest nodes that make up its steps, and each node knows all
//      [0, 4)  [4, 8)             that is taken below it. Neighbouring ranges become one, so that a node of a dense arena
//    [0,2)[2,4) ...               holds a few ranges, however many items they stand for.
#pragma once
#include <vector>

#include "ir/index/interval.h"

namespace heddle::passes {

// The bytes [from, to) of the arena.
struct Range {
  int64_t from = 0, to = 0;
  auto operator<=>(const Range&) const = default;
};

// Disjoint ranges in ascending order. Ranges that touch are merged.
class RangeSet {
 public:
  void add(Range r);
  void remove(Range r);                                   // r must be in the set
  int64_t lowest_gap(int64_t from, int64_t bytes) const;  // the lowest offset >= from with so many free bytes
  const std::vector<Range>& ranges() const { return ranges_; }

 private:
  std::vector<Range> ranges_;
};

class Occupied {
 public:
  explicit Occupied(int64_t steps);
  void add(const ir::Interval& item, int64_t offset);
  // The lowest offset from there on that is free at every step of the item.
  int64_t lowest_gap(const ir::Interval& item, int64_t from) const;

 private:
  // The sets that together hold all ranges occupied at any step of the item.
  std::vector<const RangeSet*> taken_during(const ir::Interval& item) const;

  struct Node {
    RangeSet own;    // ranges of the items noted at this node
    RangeSet below;  // these, and the ranges of items noted at the nodes below
  };
  size_t leaves_ = 1;
  std::vector<Node> nodes_;  // the root is 1, the children of i are 2i and 2i + 1
};

}  // namespace heddle::passes
