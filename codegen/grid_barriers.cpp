#include "codegen/grid_barriers.h"

#include <algorithm>

namespace heddle::codegen {
namespace {

int64_t stride(const Argument& a, size_t loop) { return loop < a.at.strides.size() ? a.at.strides[loop] : 0; }

// Whether low < distance + drift * t < high for some t from 0 to `last`.
bool passes(int64_t distance, int64_t drift, int64_t last, int64_t low, int64_t high) {
  if (drift < 0) return passes(-distance, -drift, last, -high, -low);
  int64_t first = 0;  // the first t above `low`
  if (distance <= low) {
    if (drift == 0) return false;
    first = (low - distance) / drift + 1;
  }
  return first <= last && distance + drift * first < high;
}

// Whether `a` in a turn of the innermost loop and `b` `later` turns after it share a byte. All other loops are in the
// same turn for both.
bool overlaps(Argument a, Argument b, const std::vector<int64_t>& turns, int64_t later) {
  if (a.at.segment != b.at.segment) return false;
  const size_t inner = turns.empty() ? 0 : turns.size() - 1;
  for (size_t loop = 0; loop < inner; ++loop)
    if (stride(a, loop) != stride(b, loop)) a = reach(a, loop, turns[loop]), b = reach(b, loop, turns[loop]);
  const int64_t last = turns.empty() ? 0 : turns.back() - 1 - later;
  const int64_t moved_a = stride(a, inner), moved_b = stride(b, inner);
  const int64_t distance = b.at.offset + later * moved_b - a.at.offset;
  return last >= 0 && passes(distance, moved_b - moved_a, last, -b.bytes, a.bytes);
}

}  // namespace

bool conflict(const Step& a, const Step& b, const std::vector<int64_t>& turns, int64_t later) {
  const std::vector<Argument> of_b = touched_by(b, turns.size());
  for (const Argument& x : touched_by(a, turns.size()))
    for (const Argument& y : of_b)
      if ((x.access != Access::read || y.access != Access::read) && overlaps(x, y, turns, later)) return true;
  return false;
}

namespace {

// Whether a barrier is needed after a turn. Without it, the turn's last phase runs concurrently with the first phase of
// the next turn; if there is a single phase, with that of all later turns.
bool next_turn_waits(const std::vector<Step>& steps, const GridPhases& list, const std::vector<int64_t>& turns) {
  const int64_t farthest = list.phases.size() == 1 ? turns.back() - 1 : 1;
  for (const size_t a : list.phases.back().steps)
    for (const size_t b : list.phases.front().steps)
      for (int64_t later = 1; later <= farthest; ++later)
        if (conflict(steps[a], steps[b], turns, later)) return true;
  return false;
}

}  // namespace

GridPhases grid_phases(const std::vector<Step>& steps, const std::vector<int64_t>& turns) {
  GridPhases list{.phases = std::vector<GridPhase>(1), .loops = std::vector<GridPhases>(steps.size())};
  for (size_t i = 0; i < steps.size(); ++i) {
    const auto waits = [&](size_t before) { return conflict(steps[before], steps[i], turns); };
    if (std::ranges::any_of(list.phases.back().steps, waits)) list.phases.emplace_back();
    list.phases.back().steps.push_back(i);
    const auto* loop = std::get_if<Loop>(&steps[i].what);
    if (loop == nullptr) continue;
    std::vector<int64_t> inside = turns;
    inside.push_back(loop->count);
    list.loops[i] = grid_phases(loop->steps, inside);
  }
  if (!turns.empty()) list.phases.back().meets = next_turn_waits(steps, list, turns);
  // After a loop whose turns end with a barrier, no further barrier is needed.
  for (GridPhase& phase : list.phases) {
    if (phase.steps.empty()) continue;
    const auto* loop = std::get_if<Loop>(&steps[phase.steps.back()].what);
    if (loop != nullptr && ends_with_barrier(loop->steps, list.loops[phase.steps.back()])) phase.meets = false;
  }
  return list;
}

bool ends_with_barrier(const std::vector<Step>& steps, const GridPhases& list) {
  const GridPhase& last = list.phases.back();
  if (last.meets || last.steps.empty()) return last.meets;
  const auto* loop = std::get_if<Loop>(&steps[last.steps.back()].what);
  return loop != nullptr && ends_with_barrier(loop->steps, list.loops[last.steps.back()]);
}

int64_t barriers(const std::vector<Step>& steps, const GridPhases& list) {
  int64_t count = 0;
  for (const GridPhase& phase : list.phases) {
    count += phase.meets ? 1 : 0;
    for (const size_t i : phase.steps)
      if (const auto* loop = std::get_if<Loop>(&steps[i].what))
        count += loop->count * barriers(loop->steps, list.loops[i]);
  }
  return count;
}

}  // namespace heddle::codegen
