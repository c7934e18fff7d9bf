// NVIDIA's libraries that a GPU's program calls where this machine has them.
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

// Those of the names; others are passed by.
inline GpuLibraries libraries_named(const std::vector<std::string>& names) {
  return {.cublaslt = std::ranges::count(names, "cublaslt") > 0, .cudnn = std::ranges::count(names, "cudnn") > 0};
}

}  // namespace heddle::driver
