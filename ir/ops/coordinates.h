// Shared parts of gather_nd and scatter_nd, whose operand `indices` holds coordinates.
//
//   x f32[2,4,5,3], indices i32[2,7,2] {batch = 1}   ->   points [2,7], indexed [4,5], rest [3]
#pragma once
#include "ir/op_def.h"

namespace heddle::ir {

struct Coordinates {
  size_t batch = 0;  // the number of leading axes that x and indices have in common
  Dims points;       // the axes of indices without the last one
  Dims indexed;      // the axes of x that coordinates index
  Dims rest;         // the axes of x after them, which are taken whole
};
Coordinates coordinates(const Signature& s);  // of the operands x and indices; throws InferError
Dims indexed_axes(const Signature& s);        // OpDef::places of both operators
Key batch_attr();
Dims in_a_row(Dims a, const Dims& b);  // a followed by b

// For the oracles: the number of the row of [batch, indexed] that a point names; -1 if a coordinate is out of range.
int64_t row_at(const Coordinates& c, const Tensor& indices, const Dims& point);

}  // namespace heddle::ir
