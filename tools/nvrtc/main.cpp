// heddle-nvrtc: compiles kernels for heddle in a process that may be killed.
#include "runtime/cuda/nvrtc_child.h"

int main(int count, char** arguments) { return heddle::runtime::nvrtc_child(count, arguments); }
