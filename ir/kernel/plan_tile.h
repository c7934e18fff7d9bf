// plan_tile: which values of a kernel of schedule tile pass through a square tile, and the space it is looped over in.
//
//   %t: f32[96,64] = transpose(%x: f32[64,96])     %x lies at row + 96 * column: neighbours in memory are neighbouring
//   %y: f32[96,64] = add(%t, %z)                   rows, while those of %z and %y are neighbouring columns. So %x is
//                                                  staged: read down the columns of a tile, used along its rows.
//
// The columns are the domain's dimensions from the split on. The rows are the innermost other dimension that some
// operand lies along; all further dimensions count matrices: f32[2,64,96] -> f32[2,96,64] is two of 96 x 64.
#pragma once
#include "ir/kernel/access.h"

namespace heddle::ir {

inline constexpr int kMatrix = 2;         // the coordinate after row and column
inline constexpr int64_t kTileSide = 32;  // hd::kTile of the preamble

// Computed at a point while neighbours run down the rows, used there while they run along the columns.
struct Staged {
  ValueId value;
  IndexMap at;
  int64_t first_byte = 0;  // of its tile in shared memory
};

struct TilePlan {
  Dims space;       // rows, columns, matrices
  IndexExpr point;  // row-major position in the domain
  std::vector<Staged> staged;
  int64_t shared_bytes = 0;   // that the tiles take
  int64_t largest_index = 0;  // of the operands' elements and of the conditions
  std::string reason;         // why the kernel cannot go through tiles; the rest is empty then
  bool ok() const { return reason.empty(); }
};
TilePlan plan_tile(const Graph& kernel);

// The sides of the matrices that a movement transposes: how far the innermost dimensions of its operand and of its
// result reach, those included that stay neighbours. Nothing where the innermost dimension stays innermost.
struct Turn {
  int64_t operand = 1, result = 1;
  // Both sides are long enough for tiles. Times through tiles over those of strided reads, f32 on the host: 16 x 256
  // takes 0.4, 256 x 16 1.0, 4096 x 16 1.2, all larger ones 0.15 to 0.85; but 256 x 8 takes 1.25, 4 x 1024 2.2.
  bool large() const { return operand >= kLeastTileSide && result >= kLeastTileSide; }
  static constexpr int64_t kLeastTileSide = 16;
};
std::optional<Turn> turn_of(const Graph& g, const Node& n);

}  // namespace heddle::ir
