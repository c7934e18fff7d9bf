// GpuLibraries: which of NVIDIA's libraries a GPU's program may call, where this machine has them.
//
//   --libraries cublaslt,cudnn   ->   {.cublaslt = true, .cudnn = true}
#pragma once
#include <algorithm>
#include <string>
#include <vector>

namespace heddle::driver {

struct GpuLibraries {
  bool cublaslt = false;  // matrix products
  bool cudnn = false;     // convolutions

  bool any() const { return cublaslt || cudnn; }
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    if (cublaslt) all.emplace_back("cublaslt");
    if (cudnn) all.emplace_back("cudnn");
    return all;
  }
};

// The libraries among `names`; other names are ignored.
inline GpuLibraries libraries_named(const std::vector<std::string>& names) {
  return {.cublaslt = std::ranges::count(names, "cublaslt") > 0, .cudnn = std::ranges::count(names, "cudnn") > 0};
}

}  // namespace heddle::driver
