// Barriers of a persistent kernel against all turns written out: what no barrier parts touches nothing that the other writes.
#include "codegen/grid_barriers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace heddle::codegen {
namespace {

Step step(std::vector<Argument> arguments) { return {Launch{.kernel = 0, .arguments = std::move(arguments)}, {}}; }
Step loop(int64_t count, std::vector<Step> steps) { return {Loop{.count = count, .steps = std::move(steps)}, {}}; }
Argument at(int64_t offset, int64_t bytes, Access access, std::vector<int64_t> strides = {}) {
  return {{Segment::arena, offset, std::move(strides)}, bytes, access};
}

// What is executed, in order, and how many barriers are before it.
struct Executed {
  std::vector<Argument> touched;
  int64_t barriers = 0;
};

void execute(const std::vector<Step>& steps, const GridPhases& list, std::vector<int64_t>& turns, int64_t& met,
             std::vector<Executed>& all) {
  for (const GridPhase& phase : list.phases) {
    for (const size_t i : phase.steps) {
      if (const auto* inner = std::get_if<Loop>(&steps[i].what)) {
        turns.push_back(0);
        for (; turns.back() < inner->count; ++turns.back()) execute(inner->steps, list.loops[i], turns, met, all);
        turns.pop_back();
        continue;
      }
      std::vector<Argument> touched = touched_by(steps[i]);
      for (Argument& a : touched)
        for (size_t k = 0; k < a.at.strides.size(); ++k) a.at.offset += a.at.strides[k] * turns[k];
      all.push_back({std::move(touched), met});
    }
    met += phase.meets ? 1 : 0;
  }
}

bool share(const Executed& a, const Executed& b) {
  for (const Argument& x : a.touched)
    for (const Argument& y : b.touched)
      if ((x.access != Access::read || y.access != Access::read) && x.at.offset < y.at.offset + y.bytes &&
          y.at.offset < x.at.offset + x.bytes)
        return true;
  return false;
}

// Executed twice, as two steps of training.
int64_t expect_parted(const std::vector<Step>& steps) {
  const GridPhases list = grid_phases(steps);
  std::vector<Executed> all;
  std::vector<int64_t> turns;
  int64_t met = 0;
  execute(steps, list, turns, met, all);
  const int64_t once = met;
  EXPECT_EQ(barriers(steps, list), once);
  execute(steps, list, turns, met, all);
  for (size_t b = 0; b < all.size(); ++b)
    for (size_t a = 0; a < b; ++a)
      if (all[a].barriers == all[b].barriers) {
        EXPECT_FALSE(share(all[a], all[b])) << a << " and " << b;
      }
  return once;
}

constexpr Access kRead = Access::read, kWrite = Access::write;

// A cell reads the carry and a row, and leaves the carry: product, cell.
TEST(GridBarriers, ACellsTurnMeetsTwice) {
  const auto steps = [](int64_t count) {
    return std::vector{loop(count, {step({at(0, 64, kRead), at(64, 64, kWrite)}),
                                    step({at(64, 64, kRead), at(4096, 64, kRead, {64}), at(0, 64, kWrite)})})};
  };
  EXPECT_EQ(expect_parted(steps(10)), 20);
  EXPECT_EQ(expect_parted(steps(50)), 100);
}

TEST(GridBarriers, TurnsThatShareNothingDoNotMeet) {
  EXPECT_EQ(expect_parted({loop(9, {step({at(0, 64, kRead, {64}), at(4096, 64, kWrite, {64})})})}), 1);
  EXPECT_EQ(expect_parted({loop(9, {step({at(0, 64, kRead, {64}), at(4096, 64, kWrite, {-64})})})}), 1);
  // Half of a row is written again by the next turn.
  EXPECT_EQ(expect_parted({loop(9, {step({at(4096, 64, kWrite, {32})})})}), 9);
  // The third turn behind reads what this one writes.
  EXPECT_EQ(expect_parted({loop(9, {step({at(4096 - 192, 64, kRead, {64}), at(4096, 64, kWrite, {64})})})}), 9);
}

TEST(GridBarriers, AStepBesideALoopThatLeavesItAloneDoesNotWait) {
  const Step cells =
      loop(4, {step({at(0, 64, kRead), at(64, 64, kWrite)}), step({at(64, 64, kRead), at(0, 64, kWrite)})});
  const Step other = step({at(1024, 64, kRead), at(2048, 64, kWrite)}),
             reader = step({at(0, 64, kRead), at(3072, 64, kWrite)});
  EXPECT_EQ(expect_parted({other, cells, reader}), 9);
  EXPECT_EQ(expect_parted({cells, other, reader}), 9 + 1);  // behind `other`; `reader` writes beside it
}

std::vector<Step> drawn(std::mt19937& random, size_t depth) {
  const auto below = [&](int n) { return static_cast<int64_t>(random() % static_cast<unsigned>(n)); };
  std::vector<Step> steps;
  for (int64_t n = 1 + below(4); n > 0; --n) {
    if (depth < 2 && below(3) == 0) {
      steps.push_back(loop(1 + below(5), drawn(random, depth + 1)));
      continue;
    }
    std::vector<Argument> arguments;
    for (int64_t k = 1 + below(3); k > 0; --k) {
      std::vector<int64_t> strides;
      for (size_t d = 0; d < depth; ++d) strides.push_back(16 * (below(7) - 3));
      arguments.push_back(at(16 * below(40), 16 * (1 + below(3)), below(2) == 0 ? kRead : kWrite, strides));
    }
    steps.push_back(step(std::move(arguments)));
  }
  return steps;
}

TEST(GridBarriers, PartWhatDrawnLoopsShare) {
  for (uint32_t seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    expect_parted(drawn(random, 0));
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace heddle::codegen
