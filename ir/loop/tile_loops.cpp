// Form tile: each tile is filled down its rows, turned, and used along its columns.
#include "ir/loop/loops.h"

namespace heddle::ir::loop {

Statements tile_loops(const Graph& k, const TilePlan& tile) {
  Nest down{.axis = Axis::down}, along{.axis = Axis::along};
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

}  // namespace heddle::ir::loop
