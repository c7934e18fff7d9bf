// scalar_instructions: how many instructions of a GPU an operator's C++ expression becomes, roughly: its operators one
// each, the preamble's functions as many as NVRTC makes of them.
//
//   "x > T(0) ? x : T(slope) * x"   ->   3        "hd::exp(x)"   ->   15
#pragma once
#include <string>
#include <string_view>

#include "ir/type.h"

namespace heddle::ir {

// Each function that the expression calls is one of the counted ones.
double scalar_instructions(std::string_view expr);

// Of a long sum: what a run comes to joins the wider number, and the next run begins.
double flush_instructions(DType dtype);

}  // namespace heddle::ir
