#include "passes/memory/pack_intervals.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <random>
#include <utility>

namespace heddle::passes {
namespace {

using Order = std::vector<size_t>;

struct Problem {
  std::vector<Interval> items;                // sizes rounded up
  std::vector<std::vector<size_t>> overlaps;  // by item: those that live at the same time
  int64_t max_live = 0;
};

Problem make_problem(std::span<const Interval> intervals, int64_t alignment) {
  Problem p;
  for (const Interval& i : intervals) p.items.push_back({i.begin, i.end, ir::align_up(i.bytes, alignment)});
  p.overlaps.resize(p.items.size());
  Order by_begin(p.items.size());
  std::iota(by_begin.begin(), by_begin.end(), size_t{0});
  std::stable_sort(by_begin.begin(), by_begin.end(),
                   [&](size_t a, size_t b) { return p.items[a].begin < p.items[b].begin; });
  Order active;
  for (const size_t i : by_begin) {
    std::erase_if(active, [&](size_t j) { return p.items[j].end <= p.items[i].begin; });
    for (const size_t j : active) {
      p.overlaps[i].push_back(j);
      p.overlaps[j].push_back(i);
    }
    active.push_back(i);
  }
  p.max_live = ir::max_live_bytes(p.items, alignment);
  return p;
}

enum class Fit { first, best };

// The lowest gap that takes the item, or the tightest one.
int64_t find_gap(std::vector<std::pair<int64_t, int64_t>>& taken, int64_t bytes, Fit fit) {
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

// Places the items in this order; gives up once the arena exceeds `limit`.
int64_t place(const Problem& p, const Order& order, Fit fit, int64_t limit, std::vector<int64_t>& offsets) {
  offsets.assign(p.items.size(), -1);
  std::vector<std::pair<int64_t, int64_t>> taken;
  int64_t peak = 0;
  for (const size_t i : order) {
    taken.clear();
    for (const size_t j : p.overlaps[i])
      if (offsets[j] >= 0) taken.emplace_back(offsets[j], offsets[j] + p.items[j].bytes);
    offsets[i] = find_gap(taken, p.items[i].bytes, fit);
    peak = std::max(peak, offsets[i] + p.items[i].bytes);
    if (peak > limit) return peak;
  }
  return peak;
}

struct Plan {
  Order order;
  Fit fit = Fit::first;
  int64_t bytes = std::numeric_limits<int64_t>::max();
  std::vector<int64_t> offsets;
};

// Six orders, each with both fits: large, long-lived, large and long-lived, early, late-dying first, and a mix. The
// best plan comes first.
std::vector<Plan> portfolio(const Problem& p) {
  const auto& items = p.items;
  const std::vector<std::function<double(const Interval&)>> keys = {
      [](const Interval& i) { return -static_cast<double>(i.bytes); },
      [](const Interval& i) { return -static_cast<double>(i.end - i.begin); },
      [](const Interval& i) { return -static_cast<double>(i.bytes) * static_cast<double>(i.end - i.begin); },
      [](const Interval& i) { return static_cast<double>(i.begin); },
      [](const Interval& i) { return -static_cast<double>(i.end); },
      [](const Interval& i) { return static_cast<double>(i.begin) - 0.5 * static_cast<double>(i.end); }};
  std::vector<Plan> plans;
  for (const auto& key : keys) {
    Order order(items.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      const double ka = key(items[a]), kb = key(items[b]);
      return ka != kb ? ka < kb : items[a].bytes > items[b].bytes;
    });
    for (const Fit fit : {Fit::first, Fit::best}) {
      Plan plan{order, fit, 0, {}};
      plan.bytes = place(p, order, fit, std::numeric_limits<int64_t>::max(), plan.offsets);
      plans.push_back(std::move(plan));
    }
  }
  std::stable_sort(plans.begin(), plans.end(), [](const Plan& a, const Plan& b) { return a.bytes < b.bytes; });
  return plans;
}

// Moves an item at the top of the arena, or a neighbour of one, earlier in the order.
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

// Accepts what is not worse, so that it can drift along a plateau.
void local_search(const Problem& p, Plan& plan, size_t iterations, std::mt19937& random) {
  for (size_t i = 0; i < iterations && plan.bytes > p.max_live; ++i) {
    Plan next{moved(p, plan, random), plan.fit, 0, {}};
    next.bytes = place(p, next.order, next.fit, plan.bytes, next.offsets);
    if (next.bytes <= plan.bytes) plan = std::move(next);
  }
}

// Improves the three best plans of the portfolio, since each sits in a valley of its own.
Plan search(const Problem& p) {
  std::vector<Plan> plans = portfolio(p);
  // Some ten milliseconds: a placement costs roughly one step per item and overlap.
  size_t cost = p.items.size();
  for (const auto& o : p.overlaps) cost += o.size();
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
  Plan best = search(p);
  return {std::move(best.offsets), best.bytes, p.max_live};
}

}  // namespace heddle::passes
