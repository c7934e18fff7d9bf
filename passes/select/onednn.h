// The rules of oneDNN on the host: matrix products and convolutions, in f32 or of bytes, cut into slices. One thread
// executes a slice.
#pragma once
#include "passes/select/library.h"

namespace heddle::passes {

const Library& onednn();

}  // namespace heddle::passes
