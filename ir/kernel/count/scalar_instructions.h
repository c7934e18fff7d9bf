// scalar_instructions: a rough count of the GPU instructions of an operator's C++ expression. A C++ operator counts as
// one instruction. A function of the preamble counts as many as NVRTC generates for it.
//
//   "x > T(0) ? x : T(slope) * x"   ->   3        "hd::exp(x)"   ->   15
#pragma once
#include <string>
#include <string_view>

#include "ir/type.h"

namespace heddle::ir {

// All functions that the expression calls must be in the table of counted functions.
double scalar_instructions(std::string_view expr);

// The instructions at the end of a run of a long sum: the run is added to the wider number and cleared.
double flush_instructions(DType dtype);

}  // namespace heddle::ir
