// The memory cost of one request of a warp: sectors of 32 bytes, and wavefronts of shared memory.
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

// The coordinates of a warp's lanes at one moment, and a mask of the lanes that have a point.
struct WarpPoint {
  double weight = 1;  // the number of such points that this one represents
  std::vector<LaneNumbers> coordinates;
  uint32_t active = 0xffffffffU;
};

// The value of the expression in each lane.
LaneNumbers evaluate(const IndexExpr& e, const std::vector<LaneNumbers>& coordinates);
// A mask of the lanes in which the guards hold.
uint32_t lanes_inside(const std::vector<Guard>& guards, const WarpPoint& at);

// The sectors of a request. `element` is each lane's position in units of `bytes`; a lane takes `width` neighbours.
double sectors(const LaneNumbers& element, uint32_t active, int64_t bytes, int64_t width = 1);
struct Wavefronts {
  double all = 0, ideal = 0;
};
// The wavefronts of a request to shared memory. With 8 bytes per lane, half warps are served one after the other; with
// 16 bytes, quarter warps. Lanes that read the same word share it.
Wavefronts wavefronts(const LaneNumbers& byte, uint32_t active, int64_t bytes);

}  // namespace heddle::ir
