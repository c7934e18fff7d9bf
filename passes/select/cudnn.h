// The rules of cuDNN: convolutions and their gradients on a GPU, in f32 or with 16-bit operands. The user enables this
// library explicitly, and it then gets all convolutions that it can execute: there are no measurements yet that show
// which of them it computes faster.
#pragma once
#include "passes/select/library.h"

namespace heddle::passes {

const Library& cudnn();

}  // namespace heddle::passes
