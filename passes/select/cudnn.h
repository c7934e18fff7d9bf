// cuDNN: convolutions on a GPU and their gradients, in f32 or of 16-bit operands. Whoever lists it has asked for it, and
// it gets all convolutions that it takes: no card has shown yet which of them it computes faster.
#pragma once
#include "passes/select/library.h"

namespace heddle::passes {

const Library& cudnn();

}  // namespace heddle::passes
