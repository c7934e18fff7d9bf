// cuBLASLt: matrix products on a GPU, in f32 or of 16-bit operands, with the bias that follows. Whoever lists it has
// asked for it, and it gets all products that it takes: no card has shown yet which of them it computes faster.
#pragma once
#include "passes/select/library.h"

namespace heddle::passes {

const Library& cublaslt();

}  // namespace heddle::passes
