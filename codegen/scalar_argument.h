// ScalarArgument: the scalars of a kernel as a launch passes them: by value, in the type that the
// kernel's text computes with.
//
//   $rate: f16, {rate = 0.1}   ->   ScalarArgument{"f32", bits of 0.099975586f}
#pragma once
#include "codegen/program.h"
#include "ir/graph.h"

namespace heddle::codegen {

// "f32" for f16 and bf16, else the type itself.
std::string scalar_type(ir::DType dtype);

// The number that `literal` prints, as its bytes.
ScalarArgument scalar_argument(const ir::Attr& value, ir::DType dtype);

// "0.5", "-7": what the bytes say.
std::string scalar_text(const ScalarArgument& scalar);

}  // namespace heddle::codegen
