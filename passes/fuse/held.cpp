#include "passes/fuse/held.h"

#include <algorithm>
#include <climits>

namespace heddle::passes {
namespace {

using namespace ir;

// A large value that a group reads and another node computes.
struct Held {
  int made = 0, last = 0;  // positions in the graph's order: the node that computes it, and its last reader
  int64_t bytes = 0;
};

class Lives {
 public:
  Lives(const Graph& g, const Groups& groups) : g_(g), groups_(groups) {}

  // The large values that `reader` reads, and that the other group neither reads nor writes.
  std::vector<Held> held(const Group& reader, const Group& other) const {
    std::vector<Held> all;
    for (const ValueId v : reader.reads) {
      const int64_t bytes = g_[v].type.bytes();
      const bool of_both = std::binary_search(other.reads.begin(), other.reads.end(), v) ||
                           std::binary_search(other.writes.begin(), other.writes.end(), v);
      if (of_both || bytes * kLeastSaved < kMuchHeld) continue;
      ValueId whole = v;  // the value of which v is a view
      while (g_.def(whole) != nullptr && is_view(g_[whole].def) && !g_.def(whole)->operands.empty())
        whole = g_.def(whole)->operands[0];
      if (g_.def(whole) != nullptr) all.push_back({position(g_[whole].def), last_use(whole), bytes});
    }
    return all;
  }

 private:
  int position(NodeId n) const { return groups_.roles().position[index_of(n)]; }
  bool is_view(NodeId n) const { return groups_.of(n) < 0; }
  int last_use(ValueId v) const {
    if (g_.is_output(v) || g_.is_next(v)) return INT_MAX;
    int last = 0;
    for (const NodeId use : g_[v].uses)
      last = std::max(last, is_view(use) ? last_use(g_[use].results[0]) : position(use));
    return last;
  }

  const Graph& g_;
  const Groups& groups_;
};

// The most bytes that lie in memory at the same time only with one kernel: values of `a` that are dead before the first
// of the counted values of `b` is computed.
int64_t held_longer(const std::vector<Held>& a, const std::vector<Held>& b) {
  int64_t most = 0;
  for (const Held& first : b) {
    int64_t before = 0, behind = 0;
    for (const Held& h : a) before += h.last < first.made ? h.bytes : 0;
    for (const Held& h : b) behind += h.made >= first.made ? h.bytes : 0;
    most = std::max(most, std::min(before, behind));
  }
  return most;
}

}  // namespace

int64_t held_longer(const Graph& g, const Groups& groups, int a, int b) {
  const Group &x = groups[a], &y = groups[b];
  if (std::min(x.cost.bytes_read, y.cost.bytes_read) * kLeastSaved < kMuchHeld) return 0;
  const Lives lives(g, groups);
  const std::vector<Held> of_a = lives.held(x, y), of_b = lives.held(y, x);
  return std::max(held_longer(of_a, of_b), held_longer(of_b, of_a));
}

}  // namespace heddle::passes
