#include "ir/kernel/columns_meet.h"

#include <algorithm>
#include <tuple>

#include "ir/ceil_div.h"

namespace heddle::ir {
namespace {

constexpr int64_t kWarp = 32, kRegisterBytes = 4;

// The registers of a lane for sums. With 1024 threads a thread has 64 registers in all, with 512 threads twice as many.
int64_t registers_of_sums(int64_t threads) {
  constexpr int64_t kMany = 512, kSums = 72, kSumsOfMany = 32;
  return threads > kMany ? kSumsOfMany : kSums;
}

// Computes only ColumnsMeet::turns, for any number of blocks. The registers of a lane are divided among its columns.
// Among numbers of columns with the same number of blocks at once, the largest takes the fewest turns; only it is kept.
class Turns {
 public:
  Turns(int64_t threads, int64_t columns, int64_t bytes) {
    const int64_t most = registers_of_sums(threads) / ceil_div(bytes, kRegisterBytes);
    for (int64_t shares = 1; shares <= kWarp; shares *= 2) {
      const int64_t sets = ceil_div(columns, threads / shares), widest = std::min(sets, most);
      for (int64_t abreast = 1; abreast <= widest; ++abreast)
        if (abreast == widest || most / (abreast + 1) != most / abreast)
          ways_.push_back({shares, most / abreast, ceil_div(sets, abreast)});
    }
  }
  int64_t of(int64_t blocks) const {
    if (ways_.empty()) return ColumnsMeet{}.turns;
    int64_t least = INT64_MAX;
    for (const Way& w : ways_) {
      const int64_t of_lane = ceil_div(std::max<int64_t>(blocks, 1), w.shares);
      least = std::min(least, w.turns * ceil_div(of_lane, w.at_once));
    }
    return least;
  }

 private:
  struct Way {
    int64_t shares, at_once, turns;  // turns of one pass over the blocks of a lane
  };
  std::vector<Way> ways_;
};

}  // namespace

// Minimises the turns, then the cycles. Cycles are estimated from the instructions per load and from the sectors that
// lanes read: if more lanes share a column, fewer neighbouring columns are read together.
ColumnsMeet columns_meet(int64_t threads, int64_t blocks, int64_t columns, int64_t bytes) {
  constexpr int64_t kSector = 32, kInstructions = 8, kThreadsOfCycle = 128, kSectorsOfCycle = 2;
  if (threads < kWarp) return {};
  const int64_t most = registers_of_sums(threads) / ceil_div(bytes, kRegisterBytes);
  ColumnsMeet best;
  std::tuple<int64_t, int64_t> least{INT64_MAX, INT64_MAX};
  for (int64_t shares = 1; shares <= kWarp; shares *= 2) {
    const int64_t of_lane = ceil_div(std::max<int64_t>(blocks, 1), shares), sets = ceil_div(columns, threads / shares);
    const int64_t together = kWarp / shares;
    const int64_t sectors = ceil_div(columns, together) * of_lane * shares * ceil_div(together * bytes, kSector);
    const int64_t cycles =
        sets * of_lane * kInstructions * ceil_div(threads, kThreadsOfCycle) + sectors / kSectorsOfCycle;
    for (int64_t abreast = 1; abreast <= std::min(sets, most); ++abreast) {
      const int64_t passes = ceil_div(of_lane, most / abreast), turns = ceil_div(sets, abreast) * passes;
      if (std::tuple(turns, cycles) >= least) continue;
      least = {turns, cycles};
      best = {.shares = shares, .at_once = ceil_div(of_lane, passes), .abreast = abreast, .turns = turns};
    }
  }
  return best;
}

// Groups cost one more arrival, which waits as long as a load. So they must save several turns. Among equal choices,
// the one with the least sum of group size and number of groups is taken.
int64_t blocks_gather(int64_t threads, int64_t blocks, int64_t columns, const std::vector<int64_t>& bytes) {
  constexpr int64_t kWorth = 3;
  if (threads < kWarp) return blocks;
  std::vector<Turns> reductions;
  reductions.reserve(bytes.size());
  for (const int64_t b : bytes) reductions.emplace_back(threads, columns, b);
  const auto turns = [&](int64_t count) {
    int64_t all = 0;
    for (const Turns& one : reductions) all += one.of(count);
    return all;
  };
  const int64_t at_once = turns(blocks), fewest = 2 * static_cast<int64_t>(bytes.size());
  int64_t best = blocks;
  if (at_once < fewest + kWorth) return best;
  std::tuple<int64_t, int64_t> least{at_once - kWorth + 1, 0};
  for (int64_t gather = 2; gather < blocks; ++gather) {
    const int64_t inside = turns(gather), groups = ceil_div(blocks, gather);
    if (inside >= std::get<0>(least)) break;  // more blocks never take fewer turns
    const std::tuple<int64_t, int64_t> both{inside + turns(groups), gather + groups};
    if (both >= least) continue;
    best = gather, least = both;
  }
  return best;
}

}  // namespace heddle::ir
