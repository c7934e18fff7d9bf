// The rules of cuBLASLt: matrix products on a GPU, in f32 or with 16-bit operands, including a bias that follows. The
// user enables this library explicitly, and it then gets all products that it can execute: there are no measurements
// yet that show which of them it computes faster.
#pragma once
#include "passes/select/library.h"

namespace heddle::passes {

const Library& cublaslt();

}  // namespace heddle::passes
