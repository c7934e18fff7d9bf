#include "ir/index/interval.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace heddle::ir {

int64_t align_up(int64_t bytes, int64_t alignment) { return (bytes + alignment - 1) / alignment * alignment; }

int64_t max_live_bytes(std::span<const Interval> intervals, int64_t alignment) {
  std::vector<std::pair<int64_t, int64_t>> events;  // (step, bytes); at one step releases sort before allocations
  for (const Interval& i : intervals) {
    events.emplace_back(i.begin, align_up(i.bytes, alignment));
    events.emplace_back(i.end, -align_up(i.bytes, alignment));
  }
  std::sort(events.begin(), events.end());
  int64_t live = 0, most = 0;
  for (const auto& [step, bytes] : events) most = std::max(most, live += bytes);
  return most;
}

}  // namespace heddle::ir
