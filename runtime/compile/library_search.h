// Where NVIDIA's run-time compiler is looked for, cuBLASLt and cuDNN. This is the only place that knows.
//
//   1. $HEDDLE_NVRTC                     the library, or its folder; when set, nothing else is tried
//   2. .deps/nvrtc/nvidia/cu13/lib       in a folder above the running binary: what the set-up script fetched
//   3. $CUDA_HOME, $CUDA_PATH            lib64, lib
//   4. /usr/local/cuda*                  lib64, lib; the newest first
//   5. libnvrtc.so.13                    as the dynamic loader finds it
//
// cuBLASLt likewise: $HEDDLE_CUBLASLT, .deps/cublas/nvidia/cu13/lib, libcublasLt.so.13. And cuDNN: $HEDDLE_CUDNN,
// .deps/cudnn/nvidia/cudnn/lib, libcudnn.so.9.
#pragma once
#include <string>
#include <vector>

namespace heddle::runtime {

struct LibraryCandidate {
  std::string path;      // absolute; the plain name for the loader's own search
  std::string found_by;  // "HEDDLE_NVRTC", ".deps", "CUDA_HOME", "CUDA_PATH", "/usr/local", "the dynamic loader"
};

// Existing files in the order above, and the loader's name last.
std::vector<LibraryCandidate> nvrtc_candidates();
std::vector<LibraryCandidate> cublaslt_candidates();
std::vector<LibraryCandidate> cudnn_candidates();

// The shared library of constants that NVRTC opens by itself. It is not on the loader's path when NVRTC was opened by
// an absolute one, so it is opened first. "" when there is none beside `library`.
std::string nvrtc_builtins(const std::string& library);

}  // namespace heddle::runtime
