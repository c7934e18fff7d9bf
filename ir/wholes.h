// Builds products of whole numbers in IR, by the rule of ir/int8.h.
//
//   y = x w  ->  y = (round(x * (1 / step)) round(w / scale)) * (scale * step)
//
// The operators that make whole numbers say so by a trait (ir/op_traits.h).
#pragma once
#include "ir/builder.h"

namespace heddle::ir {

// Whether the elements of v are whole numbers within limits (MakesWholes::within_limits).
bool is_whole(const Graph& g, ValueId v);
// Whether one of the operands is whole. The sums of such a product are exact, and no other form may round them.
bool reads_wholes(const Graph& g, const Node& n);

// The scale for inputs between `low` and `high` (f32[] each): they become multiples of `step`, from `least` to `most`.
struct InputScale {
  ValueId step, least, most;  // f32[]
};
InputScale input_scale(Builder& b, ValueId low, ValueId high);

// Broadcasts v to `shape`. v has the axes `axes` of the shape; none if it is one number.
ValueId spread_along(Builder& b, ValueId v, const Dims& axes, const Dims& shape);

// x * (1 / steps). `steps` is one step, f32[], or one per row, f32[rows].
ValueId in_steps(Builder& b, ValueId x, ValueId steps);

// The factor of a product of whole numbers, scale * step, f32[outputs].
ValueId factor_of(Builder& b, ValueId scale, ValueId step);
// The product times its factor. The last axis of `sums` is the outputs.
ValueId times_factor(Builder& b, ValueId sums, ValueId factor);

}  // namespace heddle::ir
