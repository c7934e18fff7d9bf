// scalar_argument: converts the scalars of a call to the arguments of a launch, which passes them by value, in the type
// in which the kernel computes.
//
//   $rate: f16, {rate = 0.1}   ->   ScalarArgument{"f32", bits of 0.099975586f}
#pragma once
#include "codegen/program.h"
#include "ir/graph.h"

namespace heddle::codegen {

// "f32" for f16 and bf16, else the type itself.
std::string scalar_type(ir::DType dtype);

// The bytes of the number that `literal` would print.
ScalarArgument scalar_argument(const ir::Attr& value, ir::DType dtype);

// The number as text: "0.5", "-7".
std::string scalar_text(const ScalarArgument& scalar);

}  // namespace heddle::codegen
