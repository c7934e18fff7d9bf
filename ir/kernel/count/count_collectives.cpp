#include "ir/kernel/count/count_collectives.h"

#include <algorithm>
#include <cmath>

#include "ir/kernel/access.h"
#include "ir/kernel/columns_meet.h"
#include "ir/kernel/count/requests.h"
#include "ir/kernel/count/scalar_instructions.h"

namespace heddle::ir {
namespace {

// Constants that an exchange between lanes needs in registers.
constexpr double kAsked = 2;

double cut(double n, double by) { return std::ceil(n / by); }
double words_of(const AccumulatorWork& a) { return cut(static_cast<double>(a.bytes), 4); }
double warps_of_block(const schedules::Rows& schedule) { return cut(static_cast<double>(schedule.threads), kLanes); }
double sectors_of(double bytes) { return cut(bytes, 32); }

// The average number of sectors for the sums of one block. Sums of blocks lie end to end, so they may begin inside a
// sector.
double sectors_of_block(const AccumulatorWork& a, int64_t columns, int64_t blocks) {
  constexpr int64_t kSector = 32, kMost = 8;  // of so many blocks they begin anywhere
  const int64_t bytes = columns * a.bytes, some = std::clamp<int64_t>(blocks, 1, kMost);
  int64_t sectors = 0;
  for (int64_t b = 0; b < some; ++b) {
    const int64_t first = a.offset + b * bytes;
    sectors += (first + bytes - 1) / kSector - first / kSector + 1;
  }
  return static_cast<double>(sectors) / static_cast<double>(some);
}

// Combines `width` lanes by exchanges over shorter and shorter distances.
void count_exchange(const AccumulatorWork& a, int64_t width, double warps, KernelCounts& to) {
  const double steps = std::log2(static_cast<double>(width));
  const double words = words_of(a);
  to.instructions.values += steps * (3 * words + a.merge) * warps;  // the bits of a value, and back
}

void count_shared(double requests, KernelCounts& to) {
  to.instructions.memory += requests;
  to.shared_wavefronts += requests;
  to.ideal_wavefronts += requests;
}

// Combines the warps of a block through shared memory: each warp writes one accumulator; `readers` warps read all.
void count_warps_meet(const AccumulatorWork& a, const schedules::Rows& schedule, double blocks, double readers,
                      KernelCounts& to) {
  const double warps = warps_of_block(schedule);
  count_shared(blocks * (warps + readers * warps) * a.accesses, to);
  to.instructions.values += blocks * readers * (warps - 1) * a.merge;
  to.instructions.indices += blocks * warps * 8;
}

// A lane adds up `count` partial results; `at_once` of its loads are in flight together.
void count_written(const AccumulatorWork& a, double warps, double count, double at_once, double sectors,
                   KernelCounts& to) {
  constexpr double kEach = 7, kAround = 20;
  const double turns = cut(count, at_once), words = words_of(a);
  to.instructions.memory += warps * count * a.accesses;
  to.instructions.values += warps * count * (words + a.merge);
  to.instructions.indices += warps * (kAround + turns * at_once * kEach);
  to.sectors_read += warps * count * a.accesses * sectors;
  to.sectors_fetched += warps * count * a.accesses * sectors;
  to.dependent_after_last += turns;
}

}  // namespace

AccumulatorWork accumulator_work(const Graph& k, const Node& n) {
  const Monoid& monoid = monoid_of(*n.op);
  return {.bytes = accumulator_bytes(signature(k, n)),
          .accesses = static_cast<double>(monoid.words),
          .merge = monoid.merge};
}

void count_combine(const AccumulatorWork& a, const schedules::Rows& schedule, double warps, KernelCounts& to) {
  count_exchange(a, std::min<int64_t>(schedule.team, kLanes), warps, to);
  if (schedule.team <= kLanes) return;
  const double each = warps_of_block(schedule);
  count_warps_meet(a, schedule, warps / each, each, to);
}

// Shuffles combine the teams of a warp. Then warp after warp adds to the sums in shared memory, and all threads store
// them.
void count_put_columns(const AccumulatorWork& a, const schedules::Rows& schedule, int64_t columns, KernelCounts& to) {
  const auto packet = static_cast<double>(schedule.vector_width), blocks = static_cast<double>(to.blocks);
  const double warps = warps_of_block(schedule), words = words_of(a);
  const double elements =
      cut(static_cast<double>(columns), static_cast<double>(schedule.team * schedule.vector_width)) * packet;
  if (schedule.team > kLanes) {
    const double requests = blocks * cut(static_cast<double>(columns), kLanes * packet) * packet * a.accesses;
    to.instructions.memory += requests;
    to.instructions.indices += requests + 10 * blocks * warps;
    to.sectors_written +=
        requests * std::min<double>(kLanes, sectors_of(kLanes * packet * static_cast<double>(a.bytes)));
    return;
  }
  LaneNumbers at{};
  uint32_t active = 0;
  for (int64_t l = 0;
       l < std::min<int64_t>(schedule.team, (columns + schedule.vector_width - 1) / schedule.vector_width); ++l) {
    at[static_cast<size_t>(l)] = l * schedule.vector_width * a.bytes;
    active |= 1U << l;
  }
  const Wavefronts each = wavefronts(at, active, std::min<int64_t>(a.bytes, 8));
  const double steps = std::log2(kLanes / static_cast<double>(schedule.team));
  if (steps > 0) to.instructions.indices += blocks * warps * (steps + kAsked);
  to.instructions.values += blocks * warps * steps * elements * (3 * words + a.merge);
  const double accesses = blocks * elements * (2 * warps - 1);  // all but the first warp read before they write
  to.instructions.memory += accesses;
  to.instructions.values += blocks * elements * (warps - 1) * a.merge;
  to.instructions.indices += blocks * warps * (warps * 5 + 14);
  to.shared_wavefronts += accesses * each.all, to.ideal_wavefronts += accesses * each.ideal;
  const double stores = blocks * cut(static_cast<double>(columns), kLanes);
  to.instructions.memory += stores * 2;
  to.instructions.indices += stores * 6;
  to.shared_wavefronts += stores, to.ideal_wavefronts += stores;
  to.sectors_written += blocks * sectors_of_block(a, columns, to.blocks);
}

void count_put_total(const AccumulatorWork& a, const schedules::Rows& schedule, KernelCounts& to) {
  const auto blocks = static_cast<double>(to.blocks);
  count_exchange(a, kLanes, blocks * warps_of_block(schedule), to);
  to.instructions.indices += blocks * warps_of_block(schedule) * (std::log2(kLanes) + kAsked);
  count_warps_meet(a, schedule, blocks, 1.0 - 1.0 / warps_of_block(schedule), to);
  to.instructions.memory += blocks;
  to.sectors_written += blocks;
}

void count_arrival(int64_t blocks, int64_t meetings, KernelCounts& to) {
  constexpr double kOfWarp = 12, kOfBlock = 8;
  const auto arrive = static_cast<double>(blocks), last = static_cast<double>(meetings);
  const double warps = cut(static_cast<double>(to.threads), kLanes);
  to.instructions.indices += arrive * (warps * kOfWarp + kOfBlock);
  to.instructions.memory += arrive + last;
  count_shared(arrive * (warps + 1), to);
  to.sectors_fetched += arrive;  // an atomic operation is no load, but leaves the nearest cache
  to.sectors_written += last;
  to.dependent_after_last += 1;
}

// A warp takes several columns at once; some lanes share the blocks of a column.
void count_add_blocks(const AccumulatorWork& a, int64_t blocks, int64_t meetings, int64_t columns, KernelCounts& to) {
  const ColumnsMeet meet = columns_meet(to.threads, blocks, columns, a.bytes);
  const auto shares = static_cast<double>(meet.shares), of_each = static_cast<double>(blocks);
  const double abreast = kLanes / shares, groups = cut(static_cast<double>(columns), abreast);
  const double warps = groups * static_cast<double>(meetings);
  const double lines = std::min(of_each, shares), before = to.dependent_after_last;
  const double sectors = static_cast<double>(columns) <= abreast ? sectors_of_block(a, columns, blocks)
                                                                 : sectors_of(abreast * static_cast<double>(a.bytes));
  count_written(a, warps, cut(of_each, shares), static_cast<double>(meet.at_once), lines * sectors, to);
  to.dependent_after_last = before + static_cast<double>(meet.turns);
  count_exchange(a, meet.shares, warps, to);
  to.instructions.memory += warps;
  to.sectors_written += warps * sectors;
}

void count_get_column(const AccumulatorWork& a, int64_t columns, KernelCounts& to) {
  const double sectors = sectors_of_block(a, columns, /*blocks=*/1);
  to.instructions.memory += cut(static_cast<double>(columns), kLanes);
  to.sectors_read += sectors, to.sectors_fetched += sectors;
}

// Every warp adds up the totals of all blocks; its lanes share them.
void count_get_total(const AccumulatorWork& a, KernelCounts& to) {
  const double warps = cut(static_cast<double>(to.threads), kLanes), blocks = static_cast<double>(to.blocks);
  constexpr double kAtOnce = 8;
  count_written(a, warps, cut(blocks, kLanes), kAtOnce,
                sectors_of(std::min<double>(blocks, kLanes) * static_cast<double>(a.bytes)), to);
  count_exchange(a, kLanes, warps, to);
  to.instructions.indices += warps * (std::log2(kLanes) + kAsked);
}

}  // namespace heddle::ir
