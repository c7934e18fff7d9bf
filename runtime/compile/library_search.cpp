#include "runtime/compile/library_search.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace heddle::runtime {
namespace fs = std::filesystem;
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// A library: its file name, the environment variable that chooses it, and its place in .deps.
struct Sought {
  std::string name, variable, packaged;
};

void add(std::vector<LibraryCandidate>& list, const Sought& sought, const fs::path& folder,
         const std::string& found_by) {
  std::error_code ec;
  const fs::path file = folder / sought.name;
  if (fs::is_regular_file(file, ec)) list.push_back({file.string(), found_by});
}

void add_toolkit(std::vector<LibraryCandidate>& list, const Sought& sought, const fs::path& toolkit,
                 const std::string& found_by) {
  for (const char* lib : {"lib64", "lib"}) add(list, sought, toolkit / lib, found_by);
}

std::vector<LibraryCandidate> candidates(const Sought& sought) {
  std::vector<LibraryCandidate> list;
  std::error_code ec;
  if (const std::string chosen = environment(sought.variable.c_str()); !chosen.empty()) {
    if (fs::is_directory(chosen, ec)) {
      add(list, sought, fs::absolute(chosen, ec), sought.variable);
    } else if (fs::is_regular_file(chosen, ec)) {
      list.push_back({fs::absolute(chosen, ec).string(), sought.variable});
    }
    return list;
  }
  fs::path above = fs::read_symlink("/proc/self/exe", ec).parent_path();
  for (; above.has_relative_path(); above = above.parent_path())
    add(list, sought, above / ".deps" / sought.packaged, ".deps");
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const std::string toolkit = environment(name); toolkit.starts_with('/'))
      add_toolkit(list, sought, toolkit, name);
  }
  std::vector<fs::path> toolkits;
  for (const auto& entry : fs::directory_iterator("/usr/local", ec)) {
    if (entry.path().filename().string().starts_with("cuda")) toolkits.push_back(entry.path());
  }
  std::sort(toolkits.rbegin(), toolkits.rend());
  for (const fs::path& toolkit : toolkits) add_toolkit(list, sought, toolkit, "/usr/local");
  list.push_back({sought.name, "the dynamic loader"});
  return list;
}

}  // namespace

std::vector<LibraryCandidate> nvrtc_candidates() {
  return candidates({"libnvrtc.so.13", "HEDDLE_NVRTC", "nvrtc/nvidia/cu13/lib"});
}

std::vector<LibraryCandidate> cublaslt_candidates() {
  return candidates({"libcublasLt.so.13", "HEDDLE_CUBLASLT", "cublas/nvidia/cu13/lib"});
}

std::vector<LibraryCandidate> cudnn_candidates() {
  return candidates({"libcudnn.so.9", "HEDDLE_CUDNN", "cudnn/nvidia/cudnn/lib"});
}

std::string nvrtc_builtins(const std::string& library) {
  std::error_code ec;
  std::vector<std::string> found;
  for (const auto& entry : fs::directory_iterator(fs::path(library).parent_path(), ec)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("libnvrtc-builtins.so.13")) found.push_back(entry.path().string());
  }
  return found.empty() ? "" : *std::min_element(found.begin(), found.end());
}

}  // namespace heddle::runtime
