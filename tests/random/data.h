// Values for the inputs of a random graph. An input's name says what it holds, so that a printed graph is a whole test:
//
//   %x3.special: f32[4,33]   ->   numbers in [-2, 2), among them nan, infinities, -0, subnormals and the limits
//
// plain; positive; whole (small integers, many of them equal); wide (magnitudes from 1e-6 to 1e6); special; and
// belowN: integers in [0, N). Any other name: plain.
#pragma once
#include "ir/evaluate/evaluate.h"

namespace heddle::testing {

// A function of the names of the value and of its module's first entry, and of the type.
ir::Tensor random_data(const ir::Graph& g, ir::ValueId input);
// A value for every input, param and state.
ir::NamedTensors random_data(const ir::Graph& g);

}  // namespace heddle::testing
