// Schedule tile: each tile is filled down its rows, turned, and used along its columns.
#include <algorithm>

#include "ir/kernel/plan_reductions.h"
#include "ir/kernel/plan_values.h"
#include "ir/kernel/schedule_def.h"

namespace heddle::ir {
namespace {

using namespace loop;  // NOLINT: this file speaks of little else

// Every value is computed point by point; what passes through tiles is plan_tile's to say.
KernelPlan plan_tiles(const Graph& k, const schedules::Tile& /*schedule*/) {
  const TilePlan tile = plan_tile(k);
  if (!tile.ok()) throw Refusal{tile.reason};
  KernelPlan plan;
  plan.values.resize(k.value_count());
  plan.rows = tile.space[kRow] * tile.space[kMatrix];
  plan.columns = tile.space[kColumn];
  plan.largest_index = std::max(tile.largest_index, reach(tile.space));
  plan.shared_bytes = tile.shared_bytes;
  const auto tiles = [](int64_t side) { return (side + kTileSide - 1) / kTileSide; };
  plan.most_blocks = tile.space[kMatrix] * tiles(tile.space[kRow]) * tiles(tile.space[kColumn]);
  return plan;
}

Statements tile_loops(const Graph& k, const schedules::Tile& /*schedule*/, const KernelPlan& /*plan*/) {
  const TilePlan tile = plan_tile(k);
  Nest down{.axis = Axis::down, .body = {}}, along{.axis = Axis::along, .body = {}};
  for (const Staged& s : tile.staged) {
    down.body.push_back({Stage{s}});
    along.body.push_back({Unstage{s}});
  }
  Nest tiles{.axis = Axis::tiles, .extents = tile.space, .body = {{std::move(down)}}};
  for (const ValueId v : k.outputs) {
    const IndexMap at = access_at(tile.space, tile.point, k[v].type.dims);
    tiles.body.push_back({Ahead{v, at}});
    along.body.push_back({Store{v, Extent::full, at}});
  }
  tiles.body.push_back({TurnTiles{}});
  tiles.body.push_back({std::move(along)});
  return {{std::move(tiles)}};
}

}  // namespace

const KernelScheduleDef<schedules::Tile>& schedules::Tile::def() {
  static const KernelScheduleDef<schedules::Tile> def = {.name = "tile",
                                                         .attributes = of_domain<schedules::Tile>({}),
                                                         .plan = plan_tiles,
                                                         .loops = tile_loops,
                                                         .traits = {.points_as_they_lie = false, .packets = false}};
  return def;
}

}  // namespace heddle::ir
