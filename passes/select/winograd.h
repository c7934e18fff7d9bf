// Winograd's convolution on the host (runtime/host/winograd.h): windows of 3 x 3 with stride 1, forward and the gradient of
// the image, where its transforms take less time than they save.
#pragma once
#include "passes/select/library.h"

namespace heddle::passes {

const Library& winograd();

}  // namespace heddle::passes
