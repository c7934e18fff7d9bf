// Transposes through square tiles: what codegen/device/8_tile.cuh executes.
#include <algorithm>

#include "ir/kernel/count/count_forms.h"
#include "ir/kernel/plan_tile.h"

namespace heddle::ir {
namespace {

int64_t cut(int64_t n, int64_t by) { return (n + by - 1) / by; }

// The loop over a tile's points: neighbouring lanes take neighbouring rows, or columns.
std::vector<WarpPoint> tile_points(const TilePlan& plan, bool down) {
  constexpr int64_t kTiles = 4, kLines = 2;
  const int64_t across = cut(plan.space[kColumn], kTileSide), high = cut(plan.space[kRow], kTileSide);
  std::vector<WarpPoint> points;
  for (const int64_t tile : some_of(plan.space[kMatrix] * across * high, kTiles))
    for (const int64_t line : some_of(kTileSide, kLines)) {
      WarpPoint p;
      p.coordinates.resize(kMatrix + 1);
      p.coordinates[kMatrix].fill(tile / (across * high));
      for (int64_t l = 0; l < kLanes; ++l) {
        const auto lane = static_cast<size_t>(l);
        const int64_t row = tile % high * kTileSide + (down ? l : line);
        const int64_t column = tile / high % across * kTileSide + (down ? line : l);
        p.coordinates[kRow][lane] = row, p.coordinates[kColumn][lane] = column;
        if (row >= plan.space[kRow] || column >= plan.space[kColumn]) p.active &= ~(1U << l);
      }
      points.push_back(std::move(p));
    }
  return points;
}

}  // namespace

void count_tiles(const Graph& k, KernelCounts& to) {
  const TilePlan plan = plan_tile(k);
  const Dims& space = plan.space;
  const double launch = static_cast<double>(to.blocks * cut(to.threads, kLanes));
  const double tiles =
      static_cast<double>(space[kMatrix] * cut(space[kRow], kTileSide) * cut(space[kColumn], kTileSide));
  // Lines of the tiles with a point inside.
  const auto lines = [&](int along, int across) {
    return static_cast<double>(space[kMatrix] * cut(space[static_cast<size_t>(along)], kTileSide) *
                               space[static_cast<size_t>(across)]);
  };
  count_entry(static_cast<int64_t>(k.inputs.size() + k.outputs.size()), launch, launch, to);
  constexpr double kTile = 25, kLine = 16, kUneven = 3;  // of a dimension that tiles do not divide
  to.instructions.indices += tiles * kTile * static_cast<double>(cut(to.threads, kLanes));
  const double uneven = (space[kRow] % kTileSide != 0 ? 1 : 0) + (space[kColumn] % kTileSide != 0 ? 1 : 0);
  CountBody body(k, kMatrix + 1, to);
  const auto enter = [&](double turns, bool down) {
    body.forget();
    body.enter({.launch = launch, .rows = turns, .packets = turns, .columns = turns, .packet = 1},
               tile_points(plan, down), kOnRow | kOnColumn);
    to.instructions.indices += (kLine + kUneven * uneven) * turns;
    const auto staged = static_cast<double>(plan.staged.size());
    to.instructions.memory += staged * turns;
    to.shared_wavefronts += staged * turns, to.ideal_wavefronts += staged * turns;
  };
  enter(lines(kRow, kColumn), /*down=*/true);
  for (const Staged& s : plan.staged) body.value(s.value, s.at);
  enter(lines(kColumn, kRow), /*down=*/false);
  for (const Staged& s : plan.staged) body.take(s.value, s.at, kOnRow | kOnColumn);
  for (const ValueId v : k.outputs) body.store(v, access_at(space, plan.point, k[v].type.dims));
  to.dependent_loads = 1;
}

}  // namespace heddle::ir
