// heddle-nvrtc: compiles kernels for heddle in a process that may be killed.
#include <cstdlib>

#include "runtime/cuda/nvrtc_child.h"

// The results are written: what NVRTC would do at the end of its process is of no use.
int main(int count, char** arguments) { std::_Exit(heddle::runtime::nvrtc_child(count, arguments)); }
