// Runs NVRTC in a child process, so that a compilation that takes too long or crashes does not end this process.
//
//   heddle-nvrtc kernels.cu kernels -arch=sm_90a -std=c++20   -> kernels.log, kernels.cubin, kernels.ptx
#pragma once
#include <string>

namespace heddle::runtime {

// Exit codes of the child. kNvrtcRejects: NVRTC rejects the text, and the log says why. kNvrtcMissing: there is no
// NVRTC.
constexpr int kNvrtcRejects = 40, kNvrtcMissing = 41;

// The child's main function. 0 is success. Another exit code is another error, which is printed on standard error.
int nvrtc_child(int count, const char* const* arguments);

// The path of the child's program: beside the running program, or in ../libexec/heddle. Throws UserError (exit 3) where
// it is in neither place.
std::string nvrtc_child_program();

}  // namespace heddle::runtime
