#include "passes/memory/occupied.h"

#include <algorithm>

namespace heddle::passes {

void RangeSet::add(Range r) {
  // The ranges that touch r are neighbours in the list.
  const auto first =
      std::lower_bound(ranges_.begin(), ranges_.end(), r.from, [](const Range& x, int64_t at) { return x.to < at; });
  auto last = first;
  for (; last != ranges_.end() && last->from <= r.to; ++last)
    r = {std::min(r.from, last->from), std::max(r.to, last->to)};
  if (first == last) {
    ranges_.insert(first, r);
    return;
  }
  *first = r;
  ranges_.erase(first + 1, last);
}

void RangeSet::remove(Range r) {
  const auto around =
      std::lower_bound(ranges_.begin(), ranges_.end(), r.to, [](const Range& x, int64_t at) { return x.to < at; });
  const Range left{around->from, r.from}, right{r.to, around->to};
  if (left.from < left.to && right.from < right.to) {
    *around = right;
    ranges_.insert(around, left);
  } else if (left.from < left.to) {
    *around = left;
  } else if (right.from < right.to) {
    *around = right;
  } else {
    ranges_.erase(around);
  }
}

int64_t RangeSet::lowest_gap(int64_t from, int64_t bytes) const {
  auto next =
      std::upper_bound(ranges_.begin(), ranges_.end(), from, [](int64_t at, const Range& x) { return at < x.to; });
  for (; next != ranges_.end() && next->from < from + bytes; ++next) from = next->to;
  return from;
}

Occupied::Occupied(int64_t steps) {
  while (leaves_ < static_cast<size_t>(steps)) leaves_ *= 2;
  nodes_.resize(2 * leaves_);
}

void Occupied::add(const ir::Interval& item, int64_t offset) {
  if (item.begin >= item.end) return;
  const Range range{offset, offset + item.bytes};
  size_t first = static_cast<size_t>(item.begin) + leaves_, last = static_cast<size_t>(item.end) - 1 + leaves_;
  // The nodes above the first and the last step include all nodes above those where the item is noted.
  for (size_t up = first; up > 0; up /= 2) nodes_[up].below.add(range);
  for (size_t up = last; up > 0; up /= 2) nodes_[up].below.add(range);
  for (++last; first < last; first /= 2, last /= 2) {
    for (const size_t node : {first % 2 == 1 ? first++ : 0, last % 2 == 1 ? --last : 0}) {
      if (node == 0) continue;
      nodes_[node].own.add(range);
      nodes_[node].below.add(range);
    }
  }
}

std::vector<const RangeSet*> Occupied::taken_during(const ir::Interval& item) const {
  std::vector<const RangeSet*> sets;
  const auto append = [&](const RangeSet& set) {
    if (!set.ranges().empty()) sets.push_back(&set);
  };
  size_t first = static_cast<size_t>(item.begin) + leaves_, last = static_cast<size_t>(item.end) - 1 + leaves_;
  for (size_t up = first / 2; up > 0; up /= 2) append(nodes_[up].own);
  for (size_t up = last / 2; up > 0; up /= 2) append(nodes_[up].own);
  for (++last; first < last; first /= 2, last /= 2) {
    if (first % 2 == 1) append(nodes_[first++].below);
    if (last % 2 == 1) append(nodes_[--last].below);
  }
  return sets;
}

// Moves the offset up to the next gap of each set in turn, until all sets have a gap there.
int64_t Occupied::lowest_gap(const ir::Interval& item, int64_t from) const {
  if (item.begin >= item.end) return from;
  const std::vector<const RangeSet*> sets = taken_during(item);
  int64_t at = from;
  for (size_t agreed = 0, i = 0; agreed < sets.size(); i = (i + 1) % sets.size()) {
    const int64_t next = sets[i]->lowest_gap(at, item.bytes);
    agreed = next == at ? agreed + 1 : 1;
    at = next;
  }
  return at;
}

}  // namespace heddle::passes
