// Products of whole numbers in IR, by the rule of ir/int8.h.
//
//   y = x w  ->  y = (round(x * (1 / step)) round(w / scale)) * (scale * step)
//
// The operators that make whole numbers say so by a trait (ir/op_traits.h).
#pragma once
#include "ir/builder.h"

namespace heddle::ir {

// Whether v is a whole number within limits, as the node that makes it states.
bool is_whole(const Graph& g, ValueId v);
// Whether one of the operands is: a product's sums are then exact, and no other form may round them.
bool reads_wholes(const Graph& g, const Node& n);

// What inputs between `low` and `high`, f32[] each, become: multiples of a step, from `least` to `most`.
struct InputScale {
  ValueId step, least, most;  // f32[]
};
InputScale input_scale(Builder& b, ValueId low, ValueId high);

// v, of one number or of one for each place along these axes, in this shape.
ValueId spread_along(Builder& b, ValueId v, const Dims& axes, const Dims& shape);

// x * (1 / steps): one step, f32[], or one for each row, f32[rows].
ValueId in_steps(Builder& b, ValueId x, ValueId steps);

// What a product of whole numbers is multiplied with, f32[outputs].
ValueId factor_of(Builder& b, ValueId scale, ValueId step);
// A product, whose last axis are the outputs, times that.
ValueId times_factor(Builder& b, ValueId sums, ValueId factor);

}  // namespace heddle::ir
