#include "ir/kernel/columns_meet.h"

#include <algorithm>
#include <tuple>

#include "ir/ceil_div.h"

namespace heddle::ir {
namespace {

constexpr int64_t kWarp = 32;

// Registers of sums that a lane holds: of 1024 threads each has 64 in all, of 512 it has twice as many.
int64_t registers_of_sums(int64_t threads) {
  constexpr int64_t kMany = 512, kSums = 72, kSumsOfMany = 32;
  return threads > kMany ? kSumsOfMany : kSums;
}

int64_t turns_of_all(int64_t threads, int64_t blocks, int64_t columns, const std::vector<int64_t>& bytes) {
  int64_t turns = 0;
  for (const int64_t b : bytes) turns += columns_meet(threads, blocks, columns, b).turns;
  return turns;
}

}  // namespace

// The fewest turns; of equal ones the least cycles, by what lanes execute for a load each and by the sectors that they
// ask for: where more lanes share a column, fewer neighbouring columns are read together.
ColumnsMeet columns_meet(int64_t threads, int64_t blocks, int64_t columns, int64_t bytes) {
  constexpr int64_t kRegisterBytes = 4, kSector = 32, kInstructions = 8, kThreadsOfCycle = 128, kSectorsOfCycle = 2;
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

// Groups cost an arrival more, which waits as a load does: they are worth it where they save
// several. Of equal ones those of about as many blocks as there are groups.
int64_t blocks_gather(int64_t threads, int64_t blocks, int64_t columns, const std::vector<int64_t>& bytes) {
  constexpr int64_t kWorth = 3;
  if (threads < kWarp) return blocks;
  const int64_t at_once = turns_of_all(threads, blocks, columns, bytes),
                fewest = 2 * static_cast<int64_t>(bytes.size());
  int64_t best = blocks;
  if (at_once < fewest + kWorth) return best;
  std::tuple<int64_t, int64_t> least{at_once - kWorth + 1, 0};
  for (int64_t gather = 2; gather < blocks; ++gather) {
    const int64_t groups = ceil_div(blocks, gather);
    const std::tuple<int64_t, int64_t> turns{
        turns_of_all(threads, gather, columns, bytes) + turns_of_all(threads, groups, columns, bytes), gather + groups};
    if (turns >= least) continue;
    best = gather, least = turns;
  }
  return best;
}

}  // namespace heddle::ir
