#include "ir/kernel/count/warp_points.h"

#include <algorithm>

#include "ir/kernel/plan_tile.h"

namespace heddle::ir {
namespace {

constexpr int64_t kSamples = 64;

int64_t cut(int64_t n, int64_t by) { return (n + by - 1) / std::max<int64_t>(by, 1); }

double warps(int64_t threads, int64_t blocks) { return static_cast<double>(blocks * cut(threads, kLanes)); }

// The point of a warp whose lane l is at (row, column) = place(l).
template <class Place>
WarpPoint point(const Dims& space, Place place) {
  WarpPoint p;
  p.coordinates.resize(2);
  p.active = 0;
  for (int64_t l = 0; l < kLanes; ++l) {
    const auto [row, column] = place(l);
    const auto lane = static_cast<size_t>(l);
    p.coordinates[kRow][lane] = row, p.coordinates[kColumn][lane] = column;
    if (row < space[kRow] && column < space[kColumn]) p.active |= 1U << l;
  }
  return p;
}

}  // namespace

// Stratified samples: one from each stratum, at offsets by the golden ratio. So samples meet periodic patterns of a
// kernel at different phases.
std::vector<int64_t> some_of(int64_t count, int64_t most) {
  std::vector<int64_t> some;
  const int64_t n = std::min(count, most);
  for (int64_t i = 0; i < n; ++i) {
    const double along = static_cast<double>((i * 618 + 300) % 1000) / 1000;
    some.push_back(n == count ? i
                              : static_cast<int64_t>((static_cast<double>(i) + along) * static_cast<double>(count) /
                                                     static_cast<double>(n)));
  }
  return some;
}

Turns point_turns(int64_t threads, int64_t packet, const Dims& space, int64_t blocks) {
  const int64_t packets = cut(space[kColumn], packet), turns = cut(space[kRow] * packets, kLanes);
  const auto all = static_cast<double>(turns);
  Turns t{{.launch = std::min(warps(threads, blocks), all),
           .rows = all,
           .packets = all,
           .columns = all,
           .packet = packet,
           .known = space[kColumn] == packet ? packet : 0,
           .points = true},
          {}};
  for (const int64_t turn : some_of(turns, kSamples))
    t.points.push_back(point(space, [&](int64_t l) {
      const int64_t at = turn * kLanes + l;
      return std::pair(at / packets, at % packets * packet);
    }));
  return t;
}

Turns row_turns(const schedules::Rows& schedule, const Dims& space, int64_t blocks) {
  const int64_t rows = space[kRow], columns = space[kColumn];
  const bool whole = schedule.team > kLanes;
  const int64_t abreast = whole ? 1 : kLanes / schedule.team;      // rows of a warp
  const int64_t together = whole ? schedule.threads / kLanes : 1;  // warps of a row
  const int64_t turns = cut(rows, abreast) * together, slots = cut(columns, schedule.team * schedule.vector_width);
  const int64_t packets = whole ? rows * cut(columns, kLanes * schedule.vector_width) : turns * slots;
  const double launch = warps(schedule.threads, blocks);
  // A loop over few slots is unrolled. Then all rows share what depends on the column alone, except in a last slot that
  // not every thread has.
  constexpr int64_t kShared = 16;
  const int64_t whole_slots = columns / (schedule.team * schedule.vector_width);
  const bool shared = slots <= kShared, even = columns % (schedule.team * schedule.vector_width) == 0;
  const double slots_of_launch = slots == 1
                                     ? std::min(launch, static_cast<double>(turns))
                                     : std::min(launch, static_cast<double>(turns)) * static_cast<double>(whole_slots) +
                                           static_cast<double>(turns * (slots - whole_slots));
  Turns t{{.launch = std::min(launch, static_cast<double>(turns)),
           .rows = static_cast<double>(turns),
           .packets = static_cast<double>(packets),
           .columns = shared ? slots_of_launch : static_cast<double>(packets),
           .packet = schedule.vector_width,
           .far = false,
           .known = schedule.team == 1 && shared && (even || slots == 1) ? columns : 0,
           .ragged = schedule.team > 1 && whole_slots == 0},
          {}};
  for (const int64_t turn : some_of(turns, kSamples))
    t.points.push_back(point(space, [&](int64_t l) {
      const int64_t slot = turn % slots, lane = whole ? turn % together * kLanes + l : l % schedule.team;
      return std::pair(whole ? turn / together : turn * abreast + l / schedule.team,
                       (slot * schedule.team + lane) * schedule.vector_width);
    }));
  return t;
}

Turns column_turns(int64_t columns) {
  Turns t = point_turns(/*threads=*/kLanes, /*packet=*/1, {1, columns}, /*blocks=*/1);
  t.times.launch = t.times.rows;
  return t;
}

Turns one_thread() {
  Turns t{{.launch = 1, .rows = 1, .packets = 1, .columns = 1, .packet = 1},
          {point({1, 1}, [](int64_t l) { return std::pair(l, l); })}};
  return t;
}

std::vector<WarpPoint> tile_points(const Dims& space, bool down) {
  constexpr int64_t kTiles = 4, kLines = 2;
  const int64_t across = cut(space[kColumn], kTileSide), high = cut(space[kRow], kTileSide);
  std::vector<WarpPoint> points;
  for (const int64_t tile : some_of(space[kMatrix] * across * high, kTiles))
    for (const int64_t line : some_of(kTileSide, kLines)) {
      WarpPoint p;
      p.coordinates.resize(kMatrix + 1);
      p.coordinates[kMatrix].fill(tile / (across * high));
      for (int64_t l = 0; l < kLanes; ++l) {
        const auto lane = static_cast<size_t>(l);
        const int64_t row = tile % high * kTileSide + (down ? l : line);
        const int64_t column = tile / high % across * kTileSide + (down ? line : l);
        p.coordinates[kRow][lane] = row, p.coordinates[kColumn][lane] = column;
        if (row >= space[kRow] || column >= space[kColumn]) p.active &= ~(1U << l);
      }
      points.push_back(std::move(p));
    }
  return points;
}

}  // namespace heddle::ir
