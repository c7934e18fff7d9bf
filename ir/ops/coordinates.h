// Coordinates that an operand holds: what gather_nd and scatter_nd share.
//
//   x f32[2,4,5,3], indices i32[2,7,2] {batch = 1}   ->   points [2,7], indexed [4,5], rest [3]
#pragma once
#include "ir/op_def.h"

namespace heddle::ir {

struct Coordinates {
  size_t batch = 0;  // leading axes that x and the indices have in common
  Dims points;       // axes of the indices but the last
  Dims indexed;      // axes of x that the coordinates are of
  Dims rest;         // axes of x behind them, whole
};
Coordinates coordinates(const Signature& s);  // of operands x, indices; throws InferError
Dims indexed_axes(const Signature& s);        // OpDef::places of those who share them
Key batch_attr();
Dims in_a_row(Dims a, const Dims& b);

// For the oracles: which of the rows [batch, indexed] a point means; -1 where a coordinate is outside.
int64_t row_at(const Coordinates& c, const Tensor& indices, const Dims& point);

}  // namespace heddle::ir
