// Compiles a program's kernel text to machine code for an NVIDIA GPU. This needs NVRTC, but no GPU and no driver.
//
//   CudaBinary b = compile_for_cuda(source, {.arch = "sm_90a"}, cache);
//   b.kernels -> {{name = "add_relu", registers = 18, ...}}, b.images -> {cubin, cubin}
#pragma once
#include <string>
#include <vector>

#include "runtime/compile/kernel_cache.h"
#include "runtime/compile/source_parts.h"
#include "runtime/cuda/cubin_info.h"

namespace heddle::runtime {

struct CudaOptions {
  std::string arch = "sm_90a";
  bool ptx = false;           // keep the PTX too
  int parts = kCompileParts;  // most images, compiled in parallel; persistent kernels are one more
  bool persistent = true;     // compile the persistent kernels too
};

struct CudaBinary {
  std::vector<std::string> images;       // cubins; each kernel is in one of them
  std::vector<KernelResources> kernels;  // in ptxas's order
  std::vector<std::string> ptx;          // of each image, when asked for
  bool cached = false;                   // nothing was compiled
  double seconds = 0;
};

// Throws UserError: ExitCode::missing, with the remedy, when there is no NVRTC; with the numbered source when NVRTC
// rejects the text; ExitCode::limit when it takes longer than compiler_seconds().
CudaBinary compile_for_cuda(const std::string& source, const CudaOptions& options, const KernelCache& cache);

// The texts that compile_for_cuda compiles, one for each image.
std::vector<std::string> cuda_parts(const std::string& source, const CudaOptions& options);

struct NvrtcInfo {
  bool found = false;
  std::string path, found_by, version;  // "13.0"
  std::vector<int> capabilities;        // compute capabilities that it compiles for, ascending: 80 is 8.0
};
// For `doctor`, and for tests that need NVRTC.
NvrtcInfo find_nvrtc();

}  // namespace heddle::runtime
