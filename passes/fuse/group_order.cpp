#include "passes/fuse/group_order.h"

#include <algorithm>

namespace heddle::passes {

namespace {

constexpr int64_t kGap = int64_t{1} << 32;  // between neighbours' labels at the start
constexpr size_t kMostEdges = 1024;         // that one search looks at

}  // namespace

// One direction of a search: from one group toward the other, among the groups between them.
struct GroupOrder::Search {
  int from = 0, to = 0;
  bool forth = true;             // along edges, from the earlier group; else against them, from the later one
  int number = 0, opposite = 0;  // numbers of this search and of the search in the other direction
  std::vector<int> found = {};
  size_t next = 0;  // of `found`, to be expanded
  size_t edges = 0;
  bool started = false, path = false;
  bool complete() const { return started && next == found.size(); }
};

GroupOrder::GroupOrder(int count) : head_(count) {
  const auto size = static_cast<size_t>(count) + 1;
  label_.resize(size);
  previous_.resize(size);
  next_.resize(size);
  seen_.resize(size);
  for (int i = 0; i <= count; ++i) {
    at(label_, i) = i == head_ ? 0 : (i + 1) * kGap;
    at(previous_, i) = i == 0 ? head_ : i - 1;
    at(next_, i) = i == head_ ? 0 : i + 1;
  }
}

void GroupOrder::expand(Search& s, const Neighbours& edges) {
  const int group = s.started ? at(s.found, static_cast<int>(s.next++)) : s.from;
  s.started = true;
  for (const int other : at(edges, group)) {
    ++s.edges;
    if (at(seen_, other) == s.opposite || (other == s.to && group != s.from)) s.path = true;
    const bool between = s.forth ? before(other, s.to) : before(s.to, other);
    if (!between || at(seen_, other) == s.number) continue;
    at(seen_, other) = s.number;
    s.found.push_back(other);
  }
}

GroupOrder::Separation GroupOrder::separation(int a, int b, const Neighbours& preds, const Neighbours& succs) {
  const int first = before(a, b) ? a : b, last = first == a ? b : a;
  searches_ += 2;
  Search forth{.from = first, .to = last, .forth = true, .number = searches_, .opposite = searches_ - 1};
  Search back{.from = last, .to = first, .forth = false, .number = searches_ - 1, .opposite = searches_};
  Separation result;
  // The direction that has visited fewer edges goes on. The answer is known as soon as one direction is complete.
  size_t forth_cost = at(succs, first).size(), back_cost = at(preds, last).size();
  while (!forth.complete() && !back.complete()) {
    if (std::min(forth_cost, back_cost) > kMostEdges) return result;
    const bool go_forth = forth_cost <= back_cost;
    Search& search = go_forth ? forth : back;
    const Neighbours& edges = go_forth ? succs : preds;
    expand(search, edges);
    if (search.path) {
      result.answer = Separation::Answer::path;
      return result;
    }
    (go_forth ? forth_cost : back_cost) =
        search.edges + (search.complete() ? 0 : at(edges, at(search.found, static_cast<int>(search.next))).size());
  }
  result.answer = Separation::Answer::apart;
  result.behind_later = forth.complete();
  result.moved = std::move(result.behind_later ? forth.found : back.found);
  std::sort(result.moved.begin(), result.moved.end(), [&](int x, int y) { return before(x, y); });
  return result;
}

void GroupOrder::merge(int kept, int gone, const Separation& s) {
  const int first = before(kept, gone) ? kept : gone, last = first == kept ? gone : kept;
  for (const int group : s.moved) remove(group);
  // If the successors of the earlier group move behind the later one, the merged group takes the place of the later
  // one; otherwise that of the earlier one.
  const int place = s.behind_later ? last : first;
  if (!s.behind_later) insert_behind(at(previous_, first), s.moved);
  if (place != kept) {
    remove(kept);
    insert_behind(gone, {kept});
  }
  remove(gone);
  if (s.behind_later) insert_behind(kept, s.moved);
}

void GroupOrder::remove(int group) {
  at(next_, at(previous_, group)) = at(next_, group);
  at(previous_, at(next_, group)) = at(previous_, group);
}

void GroupOrder::insert_behind(int place, const std::vector<int>& groups) {
  const int64_t step = gap_behind(place, static_cast<int64_t>(groups.size()));
  for (const int group : groups) {
    const int after = at(next_, place);
    at(label_, group) = at(label_, place) + step;
    at(previous_, group) = place;
    at(next_, group) = after;
    at(next_, place) = group;
    at(previous_, after) = group;
    place = group;
  }
}

// The distance between labels at which `needed` groups fit behind `place`. If there is no room, relabels as many groups
// behind it as necessary.
int64_t GroupOrder::gap_behind(int place, int64_t needed) {
  const auto room = [&](int end, int64_t labels) {
    return end == head_ ? kGap : (at(label_, end) - at(label_, place)) / (labels + 1);
  };
  int end = at(next_, place);
  if (const int64_t step = room(end, needed); step > 0) return step;
  int64_t passed = 0;
  while (room(end, needed + passed) < (kGap >> 16)) {
    end = at(next_, end);
    ++passed;
  }
  const int64_t step = room(end, needed + passed);
  int64_t label = at(label_, place) + step * needed;
  for (int group = at(next_, place); group != end; group = at(next_, group)) at(label_, group) = label += step;
  return step;
}

}  // namespace heddle::passes
