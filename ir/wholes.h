// Products of whole numbers in IR, by the rule of ir/int8.h.
//
//   y = x w  ->  y = (round(x * (1 / step)) round(w / scale)) * (scale * step)
//
// The operators that make whole numbers say so (ir/ops/quantize.cpp): passes ask here, never for a name.
#pragma once
#include "ir/builder.h"

namespace heddle::ir {

// What an operator states of itself, beside its traits.
enum class MakesWholes {
  no,
  within_limits,  // a whole number between the second operand and the third one
  and_scales      // whole numbers from -127 to 127, and what each place of an axis is multiplied with to be the operand
};
struct StatesWholes {
  StatesWholes(const std::string& op, MakesWholes what);
};
MakesWholes makes_wholes(const OpDef& op);

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
