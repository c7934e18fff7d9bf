// oneDNN: matrix products and convolutions in f32 on the host, as slices that one thread each executes.
#pragma once
#include "passes/select/library.h"

namespace heddle::passes {

const Library& onednn();

}  // namespace heddle::passes
