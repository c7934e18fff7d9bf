#include "passes/memory/pack_intervals.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <queue>
#include <random>
#include <utility>

#include "passes/memory/occupied.h"

namespace heddle::passes {
namespace {

using Order = std::vector<size_t>;

struct Problem {
  std::vector<Interval> items;  // sizes rounded up
  int64_t steps = 0;
  // By item: the items that are live at the same time. Empty if there are more than kMostPairs pairs.
  std::vector<std::vector<size_t>> overlaps;
  size_t pairs = 0;
  int64_t max_live = 0;
};

constexpr size_t kMostPairs = 50'000;

Order by_begin(const std::vector<Interval>& items) {
  Order order(items.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return items[a].begin < items[b].begin; });
  return order;
}

size_t overlapping_pairs(const std::vector<Interval>& items) {
  std::vector<int64_t> ends;
  ends.reserve(items.size());
  for (const Interval& i : items) ends.push_back(i.end);
  std::sort(ends.begin(), ends.end());
  size_t pairs = 0, begun = 0, ended = 0;
  for (const size_t i : by_begin(items)) {
    while (ended < ends.size() && ends[ended] <= items[i].begin) ++ended;
    pairs += begun++ - std::min(ended, begun);
  }
  return pairs;
}

void find_overlaps(Problem& p) {
  p.overlaps.resize(p.items.size());
  Order active;
  for (const size_t i : by_begin(p.items)) {
    std::erase_if(active, [&](size_t j) { return p.items[j].end <= p.items[i].begin; });
    for (const size_t j : active) {
      p.overlaps[i].push_back(j);
      p.overlaps[j].push_back(i);
    }
    active.push_back(i);
  }
}

Problem make_problem(std::span<const Interval> intervals, int64_t alignment) {
  Problem p;
  // If no item ends with the first step, items that begin there overlap with the same ones as if they began at the
  // second step. So inputs that an entry gathers are packed like inputs that the host writes.
  const bool second = std::ranges::none_of(intervals, [](const Interval& i) { return i.end == 1; });
  for (const Interval& i : intervals) {
    const int64_t begin = second && i.begin == 0 && i.end > 1 ? 1 : i.begin;
    p.items.push_back({begin, i.end, ir::align_up(i.bytes, alignment)});
    p.steps = std::max(p.steps, i.end);
  }
  p.pairs = overlapping_pairs(p.items);
  if (p.pairs <= kMostPairs) find_overlaps(p);
  p.max_live = ir::max_live_bytes(p.items, alignment);
  return p;
}

enum class Fit { first, best };

// The lowest gap that is large enough (Fit::first), or the tightest one (Fit::best).
int64_t find_gap(std::vector<Range>& taken, int64_t bytes, Fit fit) {
  std::sort(taken.begin(), taken.end());
  int64_t end = 0, found = -1, tightest = std::numeric_limits<int64_t>::max();
  for (const auto& [from, to] : taken) {
    const int64_t gap = from - end;
    if (gap >= bytes && gap < tightest) {
      found = end;
      tightest = gap;
      if (fit == Fit::first) break;
    }
    end = std::max(end, to);
  }
  return found >= 0 ? found : end;
}

// Places the items in this order and returns the size of the arena. Stops as soon as it exceeds `limit`.
int64_t place(const Problem& p, const Order& order, Fit fit, int64_t limit, std::vector<int64_t>& offsets) {
  offsets.assign(p.items.size(), -1);
  std::vector<Range> taken;
  int64_t peak = 0;
  for (const size_t i : order) {
    taken.clear();
    for (const size_t j : p.overlaps[i])
      if (offsets[j] >= 0) taken.push_back({offsets[j], offsets[j] + p.items[j].bytes});
    offsets[i] = find_gap(taken, p.items[i].bytes, fit);
    peak = std::max(peak, offsets[i] + p.items[i].bytes);
    if (peak > limit) return peak;
  }
  return peak;
}

// The same as `place` with Fit::first, but with a tree over the steps instead of lists of overlaps, so that there may
// be any number of them.
int64_t place_with_tree(const Problem& p, const Order& order, std::vector<int64_t>& offsets) {
  offsets.assign(p.items.size(), -1);
  Occupied occupied(p.steps);
  int64_t peak = 0;
  for (const size_t i : order) {
    offsets[i] = occupied.lowest_gap(p.items[i]);
    occupied.add(p.items[i], offsets[i]);
    peak = std::max(peak, offsets[i] + p.items[i].bytes);
  }
  return peak;
}

// The same as `place` with Fit::first, for an order in which no item ends later than an earlier one. A placed item is
// then live at the last step of the next item, or begins after it. So a single set describes the occupied ranges.
int64_t place_from_the_end(const Problem& p, const Order& order, std::vector<int64_t>& offsets) {
  offsets.assign(p.items.size(), 0);
  RangeSet taken;
  const auto begins_earlier = [&](size_t a, size_t b) { return p.items[a].begin < p.items[b].begin; };
  std::priority_queue<size_t, Order, decltype(begins_earlier)> placed(begins_earlier);
  const auto range = [&](size_t i) { return Range{offsets[i], offsets[i] + p.items[i].bytes}; };
  int64_t peak = 0;
  for (const size_t i : order) {
    const Interval& item = p.items[i];
    for (; !placed.empty() && p.items[placed.top()].begin >= item.end; placed.pop()) taken.remove(range(placed.top()));
    peak = std::max(peak, item.bytes);
    if (item.begin >= item.end || item.bytes == 0) continue;
    offsets[i] = taken.lowest_gap(0, item.bytes);
    taken.add(range(i));
    placed.push(i);
    peak = std::max(peak, range(i).to);
  }
  return peak;
}

struct Plan {
  Order order;
  Fit fit = Fit::first;
  int64_t bytes = std::numeric_limits<int64_t>::max();
  std::vector<int64_t> offsets;
};

using Key = double (*)(const Interval&);

double large(const Interval& i) { return -static_cast<double>(i.bytes); }
double lasting(const Interval& i) { return -static_cast<double>(i.end - i.begin); }
double large_and_lasting(const Interval& i) { return large(i) * -lasting(i); }
double early(const Interval& i) { return static_cast<double>(i.begin); }
double late_dying(const Interval& i) { return -static_cast<double>(i.end); }
double early_and_late_dying(const Interval& i) { return early(i) + 0.5 * late_dying(i); }

Order order_by(const Problem& p, Key key) {
  Order order(p.items.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    const double ka = key(p.items[a]), kb = key(p.items[b]);
    return ka != kb ? ka < kb : p.items[a].bytes > p.items[b].bytes;
  });
  return order;
}

Plan plan_by(const Problem& p, Key key, Fit fit) {
  Plan plan{order_by(p, key), fit, 0, {}};
  plan.bytes = place(p, plan.order, fit, std::numeric_limits<int64_t>::max(), plan.offsets);
  return plan;
}

// Plans with six orders and both fits, the best plan first. Stops at a plan that reaches the lower bound.
std::vector<Plan> portfolio(const Problem& p) {
  std::vector<Plan> plans;
  for (const Key key : {large, lasting, large_and_lasting, early, late_dying, early_and_late_dying})
    for (const Fit fit : {Fit::first, Fit::best})
      if (plans.empty() || plans.back().bytes > p.max_live) plans.push_back(plan_by(p, key, fit));
  std::stable_sort(plans.begin(), plans.end(), [](const Plan& a, const Plan& b) { return a.bytes < b.bytes; });
  return plans;
}

// The best plan of the orders that did well on deep models. Stops at a plan within 1% of the lower bound.
Plan first_good(const Problem& p) {
  Plan best;
  for (const Key key : {late_dying, large, large_and_lasting}) {
    Plan plan{order_by(p, key), Fit::first, 0, {}};
    plan.bytes = key == late_dying ? place_from_the_end(p, plan.order, plan.offsets)
                                   : place_with_tree(p, plan.order, plan.offsets);
    if (plan.bytes < best.bytes) best = std::move(plan);
    if (best.bytes <= p.max_live + p.max_live / 100) break;
  }
  return best;
}

// A copy of the order in which a random item at the top of the arena, or a neighbour of one, comes earlier.
Order moved(const Problem& p, const Plan& plan, std::mt19937& random) {
  Order top;
  for (size_t i = 0; i < p.items.size(); ++i)
    if (plan.offsets[i] + p.items[i].bytes == plan.bytes) top.push_back(i);
  size_t pick = top[random() % top.size()];
  const Order& neighbours = p.overlaps[pick];
  if (random() % 3 == 0 && !neighbours.empty()) pick = neighbours[random() % neighbours.size()];
  Order order = plan.order;
  const auto at = std::find(order.begin(), order.end(), pick);
  const auto position = static_cast<size_t>(at - order.begin());
  order.erase(at);
  const size_t to = position == 0 ? 0 : random() % position;
  order.insert(order.begin() + static_cast<std::ptrdiff_t>(to), pick);
  return order;
}

// Accepts any order that is not worse, so that the search can move along a plateau.
void local_search(const Problem& p, Plan& plan, size_t iterations, std::mt19937& random) {
  for (size_t i = 0; i < iterations && plan.bytes > p.max_live; ++i) {
    Plan next{moved(p, plan, random), plan.fit, 0, {}};
    next.bytes = place(p, next.order, next.fit, plan.bytes, next.offsets);
    if (next.bytes <= plan.bytes) plan = std::move(next);
  }
}

// Improves the three best plans of the portfolio, because each leads to another local minimum.
Plan search(const Problem& p) {
  std::vector<Plan> plans = portfolio(p);
  // About ten milliseconds: a placement costs roughly one step per item and overlap.
  const size_t cost = p.items.size() + 2 * p.pairs;
  const size_t iterations = std::min<size_t>(4000, 4'000'000 / (cost + 1));
  std::mt19937 random(1);  // its sequence is fixed by the standard
  Plan best = plans[0];
  for (size_t i = 0; i < 3 && best.bytes > p.max_live; ++i) {
    local_search(p, plans[i], iterations, random);
    if (plans[i].bytes < best.bytes) best = plans[i];
  }
  return best;
}

}  // namespace

Packing pack_intervals(std::span<const Interval> intervals, int64_t alignment) {
  const Problem p = make_problem(intervals, alignment);
  if (intervals.empty()) return {};
  Plan best = p.overlaps.empty() ? first_good(p) : search(p);
  return {std::move(best.offsets), best.bytes, p.max_live};
}

}  // namespace heddle::passes
