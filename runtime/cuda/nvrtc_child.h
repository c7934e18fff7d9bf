// NVRTC in a process of its own: what takes too long or crashes ends there.
//
//   heddle-nvrtc kernels.cu kernels -arch=sm_90a -std=c++20   -> kernels.log, kernels.cubin, kernels.ptx
#pragma once
#include <string>

namespace heddle::runtime {

// Exit codes that nothing else has: what is wrong is in the log; there is no NVRTC.
constexpr int kNvrtcRejects = 40, kNvrtcMissing = 41;

// The program's main. Any other exit code but 0: something else, said on standard error.
int nvrtc_child(int count, const char* const* arguments);

// Its file: beside the running program, or in ../libexec/heddle. Throws UserError (exit 3) where it is not there.
std::string nvrtc_child_program();

}  // namespace heddle::runtime
