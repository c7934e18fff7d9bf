// heddle-nvrtc: compiles kernels for heddle in a process that may be killed.
#include <sys/prctl.h>

#include <csignal>
#include <cstdlib>

#include "runtime/cuda/nvrtc_child.h"

// The results are written: what NVRTC would do at the end of its process is of no use.
int main(int count, char** arguments) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // a parent that is killed can neither wait nor set a limit
  std::_Exit(heddle::runtime::nvrtc_child(count, arguments));
}
