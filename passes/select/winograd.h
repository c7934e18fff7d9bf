// The rules of Winograd's convolution on the host (runtime/host/winograd.h): 3 x 3 windows with stride 1, forward and
// gradient of the image, where the transforms cost less time than they save.
#pragma once
#include "passes/select/library.h"

namespace heddle::passes {

const Library& winograd();

}  // namespace heddle::passes
