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

// A part of an item, at `offset` within it.
struct Part {
  size_t item = 0;
  int64_t offset = 0;
  Interval live;
};

// Another item with a part that is live together with a part of this item. `taken` is relative to the other's offset:
// this item, taken as a whole, must not meet that range. The range begins behind its end if this item's part is a small
// one inside of it.
struct Overlap {
  size_t item = 0;
  Range taken;
};

struct Problem {
  std::vector<Interval> items;  // sizes rounded up
  std::vector<Part> parts;      // of all items, in their order
  std::vector<size_t> first;    // by item: its first part; then the number of parts
  int64_t steps = 0, alignment = 1;
  // By item: the parts of other items that are live at the same time. Empty if there are more than kMostPairs pairs.
  std::vector<std::vector<Overlap>> overlaps;
  size_t pairs = 0;
  int64_t max_live = 0;

  std::span<const Part> parts_of(size_t item) const {
    return std::span(parts).subspan(first[item], first[item + 1] - first[item]);
  }
};

constexpr size_t kMostPairs = 50'000;

Order by_begin(const std::vector<Part>& parts) {
  Order order(parts.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return parts[a].live.begin < parts[b].live.begin; });
  return order;
}

size_t overlapping_pairs(const std::vector<Part>& parts) {
  std::vector<int64_t> ends;
  ends.reserve(parts.size());
  for (const Part& part : parts) ends.push_back(part.live.end);
  std::sort(ends.begin(), ends.end());
  size_t pairs = 0, begun = 0, ended = 0;
  for (const size_t i : by_begin(parts)) {
    while (ended < ends.size() && ends[ended] <= parts[i].live.begin) ++ended;
    pairs += begun++ - std::min(ended, begun);
  }
  return pairs;
}

// The range that `other` takes from the item of `part`, which has so many bytes. For items of one part: the other's
// bytes.
Overlap overlap(const Part& part, const Part& other, int64_t bytes, int64_t alignment) {
  const int64_t from = other.offset - part.offset - part.live.bytes + bytes;
  return {other.item, {from, ir::align_up(other.offset + other.live.bytes - part.offset, alignment)}};
}

void find_overlaps(Problem& p) {
  p.overlaps.resize(p.items.size());
  Order active;
  for (const size_t i : by_begin(p.parts)) {
    const Part& part = p.parts[i];
    std::erase_if(active, [&](size_t j) { return p.parts[j].live.end <= part.live.begin; });
    for (const size_t j : active) {
      const Part& other = p.parts[j];
      if (other.item == part.item) continue;
      p.overlaps[part.item].push_back(overlap(part, other, p.items[part.item].bytes, p.alignment));
      p.overlaps[other.item].push_back(overlap(other, part, p.items[other.item].bytes, p.alignment));
    }
    active.push_back(i);
  }
}

Interval whole(const Buffer& b, int64_t bytes) {
  Interval all{b.parts[0].live.begin, b.parts[0].live.end, bytes};
  for (const ir::BufferPart& part : b.parts)
    all.begin = std::min(all.begin, part.live.begin), all.end = std::max(all.end, part.live.end);
  return all;
}

Problem make_problem(std::span<const Buffer> buffers, int64_t alignment) {
  Problem p;
  p.alignment = alignment;
  // If no item ends with the first step, items that begin there overlap with the same ones as if they began at the
  // second step. So inputs that an entry gathers are packed like inputs that the host writes.
  const bool second = std::ranges::none_of(buffers, [](const Buffer& b) {
    return std::ranges::any_of(b.parts, [](const ir::BufferPart& part) { return part.live.end == 1; });
  });
  const auto shifted = [&](Interval live) {
    if (second && live.begin == 0 && live.end > 1) live.begin = 1;
    return live;
  };
  std::vector<Interval> live;
  for (const Buffer& b : buffers) {
    const int64_t bytes = ir::align_up(b.bytes, alignment);
    p.first.push_back(p.parts.size());
    for (const ir::BufferPart& part : b.parts) p.parts.push_back({p.items.size(), part.offset, shifted(part.live)});
    p.parts.back().live.bytes += bytes - b.bytes;
    p.items.push_back(shifted(whole(b, bytes)));
    p.steps = std::max(p.steps, p.items.back().end);
  }
  p.first.push_back(p.parts.size());
  for (const Part& part : p.parts) live.push_back(part.live);
  p.pairs = overlapping_pairs(p.parts);
  if (p.pairs <= kMostPairs) find_overlaps(p);
  p.max_live = ir::max_live_bytes(live, /*alignment=*/1);
  return p;
}

enum class Fit { first, best };

// The lowest gap that is large enough (Fit::first), or the tightest one (Fit::best). A range may begin below 0, or
// behind its end (Overlap).
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
    for (const auto& [j, range] : p.overlaps[i])
      if (offsets[j] >= 0) taken.push_back({offsets[j] + range.from, offsets[j] + range.to});
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
    const std::span<const Part> parts = p.parts_of(i);
    // Each part moves the item up to its own next gap, until none does.
    int64_t at = 0;
    for (size_t agreed = 0, part = 0; agreed < parts.size(); part = (part + 1) % parts.size()) {
      const int64_t gap = occupied.lowest_gap(parts[part].live, at + parts[part].offset);
      const int64_t next = ir::align_up(gap - parts[part].offset, p.alignment);
      agreed = next == at ? agreed + 1 : 0;
      at = next;
    }
    offsets[i] = at;
    for (const Part& part : parts) occupied.add(part.live, at + part.offset);
    peak = std::max(peak, at + p.items[i].bytes);
  }
  return peak;
}

// The same as `place` with Fit::first, for items of one part in an order in which no item ends later than an earlier
// one. A placed item is then live at the last step of the next item, or begins after it. So a single set describes the
// occupied ranges.
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
    const bool from_the_end = key == late_dying && p.parts.size() == p.items.size();
    plan.bytes =
        from_the_end ? place_from_the_end(p, plan.order, plan.offsets) : place_with_tree(p, plan.order, plan.offsets);
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
  const std::vector<Overlap>& neighbours = p.overlaps[pick];
  if (random() % 3 == 0 && !neighbours.empty()) pick = neighbours[random() % neighbours.size()].item;
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

Packing pack_buffers(std::span<const Buffer> buffers, int64_t alignment) {
  if (buffers.empty()) return {};
  const Problem p = make_problem(buffers, alignment);
  Plan best = p.overlaps.empty() ? first_good(p) : search(p);
  return {std::move(best.offsets), best.bytes, p.max_live};
}

Packing pack_intervals(std::span<const Interval> intervals, int64_t alignment) {
  std::vector<Buffer> buffers;
  for (const Interval& i : intervals) buffers.push_back({i.bytes, {{0, i}}});
  return pack_buffers(buffers, alignment);
}

}  // namespace heddle::passes
