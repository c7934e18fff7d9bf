// Where Heddle looks for NVIDIA's libraries: NVRTC (the run-time compiler), cuBLASLt and cuDNN. No other file knows the
// places.
//
//   1. $HEDDLE_NVRTC                     the library, or its folder; when set, nothing else is tried
//   2. .deps/nvrtc/nvidia/cu13/lib       in a folder above the running binary: what the set-up script fetched
//   3. $CUDA_HOME, $CUDA_PATH            lib64, lib
//   4. /usr/local/cuda*                  lib64, lib; the newest first
//   5. libnvrtc.so.13                    as the dynamic loader finds it
//
// The order is the same for cuBLASLt ($HEDDLE_CUBLASLT, .deps/cublas/nvidia/cu13/lib, libcublasLt.so.13) and for cuDNN
// ($HEDDLE_CUDNN, .deps/cudnn/nvidia/cudnn/lib, libcudnn.so.9).
#pragma once
#include <string>
#include <vector>

namespace heddle::runtime {

struct LibraryCandidate {
  std::string path;      // absolute; a plain name where the dynamic loader searches
  std::string found_by;  // "HEDDLE_NVRTC", ".deps", "CUDA_HOME", "CUDA_PATH", "/usr/local", "the dynamic loader"
};

// The files that exist, in the order above, and last the name for the dynamic loader.
std::vector<LibraryCandidate> nvrtc_candidates();
std::vector<LibraryCandidate> cublaslt_candidates();
std::vector<LibraryCandidate> cudnn_candidates();

// The library of builtins that NVRTC opens when it compiles. When NVRTC was opened by an absolute path, the loader does
// not find this library, so the caller opens it first. "" when there is none beside `library`.
std::string nvrtc_builtins(const std::string& library);

}  // namespace heddle::runtime
