// The rules of oneDNN on the host: matrix products and convolutions, in f32 or of bytes, cut into slices. One thread
// executes a slice. Products of f32 by an int8 weight are the runtime's own (runtime/host/row_product.h).
#pragma once
#include "passes/select/library.h"

namespace heddle::passes {

const Library& onednn();

}  // namespace heddle::passes
