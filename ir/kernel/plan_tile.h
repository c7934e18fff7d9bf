// plan_tile: the plan of a kernel of schedule tile: its iteration space, and the values that pass through a square tile
// in shared memory.
//
//   %t: f32[96,64] = transpose(%x: f32[64,96])     %x lies at row + 96 * column: neighbours in memory are neighbouring
//   %y: f32[96,64] = add(%t, %z)                   rows, while those of %z and %y are neighbouring columns. So %x is
//                                                  staged: read down the columns of a tile, used along its rows.
//
// The columns are the dimensions of the domain from `split` on. The rows are another dimension: the one that is
// innermost in some operand. All further dimensions count matrices: f32[2,64,96] -> f32[2,96,64] is two matrices of 96
// x 64.
#pragma once
#include "ir/kernel/access.h"

namespace heddle::ir {

inline constexpr int kMatrix = 2;         // the coordinate after row and column
inline constexpr int64_t kTileSide = 32;  // hd::kTile of the preamble

// A value that passes through a tile. It is computed while neighbouring threads have neighbouring rows, and used while
// they have neighbouring columns.
struct Staged {
  ValueId value;
  IndexMap at;
  int64_t first_byte = 0;  // of its tile in shared memory
};

struct TilePlan {
  Dims space;       // rows, columns, matrices
  IndexExpr point;  // row-major position in the domain
  std::vector<Staged> staged;
  int64_t shared_bytes = 0;   // of the tiles
  int64_t largest_index = 0;  // the largest index of an operand's element, or number that a condition compares
  std::string reason;         // why the kernel cannot go through tiles; the other members are then empty
  bool ok() const { return reason.empty(); }
};
TilePlan plan_tile(const Graph& kernel);

// The sides of the matrices that a movement transposes: the sizes of the innermost dimensions of its operand and of its
// result, merged with the dimensions that stay their neighbours. Nothing if the innermost dimension stays innermost.
struct Turn {
  int64_t operand = 1, result = 1;
  // Whether both sides are long enough for tiles. Time with tiles divided by time with strided reads, f32 on the host:
  // 0.4 for 16 x 256, 1.0 for 256 x 16, 1.2 for 4096 x 16, 0.15 to 0.85 for all larger ones; but 1.25 for 256 x 8, 2.2
  // for 4 x 1024.
  bool large() const { return operand >= kLeastTileSide && result >= kLeastTileSide; }
  static constexpr int64_t kLeastTileSide = 16;
};
std::optional<Turn> turn_of(const Graph& g, const Node& n);

}  // namespace heddle::ir
