// What a request of a warp costs in memory: sectors of 32 bytes, and wavefronts of shared memory.
//
//   lanes 0 to 31 read f32 at lane * 64: 32 sectors        at lane: 4 sectors
//   lanes 0 to 31 read shared f32 at lane * 32: 32 wavefronts, of which 1 is needed
#pragma once
#include <array>
#include <vector>

#include "ir/index/index_map.h"

namespace heddle::ir {

constexpr int kLanes = 32;
using LaneNumbers = std::array<int64_t, kLanes>;

// The coordinates of a warp's lanes at one point of its way, and which lanes are at one.
struct WarpPoint {
  double weight = 1;  // how many such points it stands for
  std::vector<LaneNumbers> coordinates;
  uint32_t active = 0xffffffffU;
};

// The expression in all lanes.
LaneNumbers evaluate(const IndexExpr& e, const std::vector<LaneNumbers>& coordinates);
// The lanes in which the guards hold.
uint32_t lanes_inside(const std::vector<Guard>& guards, const WarpPoint& at);

// `element` is each lane's position in units of `bytes`; it takes `width` neighbours from there on.
double sectors(const LaneNumbers& element, uint32_t active, int64_t bytes, int64_t width = 1);
struct Wavefronts {
  double all = 0, ideal = 0;
};
// Of shared memory: 8 bytes a lane are served by half warps, 16 by quarters; lanes that want one word get it together.
Wavefronts wavefronts(const LaneNumbers& byte, uint32_t active, int64_t bytes);

}  // namespace heddle::ir
