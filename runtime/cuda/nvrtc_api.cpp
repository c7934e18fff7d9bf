#include "runtime/cuda/nvrtc_api.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include "ir/diagnostic.h"
#include "runtime/cuda/open_library.h"

namespace heddle::runtime {
namespace {

// Null when the file cannot be loaded or is something else. What was opened stays open.
std::unique_ptr<NvrtcApi> open_api(const LibraryCandidate& candidate) {
  if (const std::string builtins = nvrtc_builtins(candidate.path); !builtins.empty())
    dlopen(builtins.c_str(), RTLD_NOW);
  void* lib = dlopen(candidate.path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (lib == nullptr) return nullptr;
  auto api = std::make_unique<NvrtcApi>();
  const bool complete =
      resolve(lib, "nvrtcVersion", api->Version) && resolve(lib, "nvrtcGetErrorString", api->GetErrorString) &&
      resolve(lib, "nvrtcGetNumSupportedArchs", api->GetNumSupportedArchs) &&
      resolve(lib, "nvrtcGetSupportedArchs", api->GetSupportedArchs) &&
      resolve(lib, "nvrtcCreateProgram", api->CreateProgram) &&
      resolve(lib, "nvrtcDestroyProgram", api->DestroyProgram) &&
      resolve(lib, "nvrtcCompileProgram", api->CompileProgram) &&
      resolve(lib, "nvrtcGetCUBINSize", api->GetCUBINSize) && resolve(lib, "nvrtcGetCUBIN", api->GetCUBIN) &&
      resolve(lib, "nvrtcGetPTXSize", api->GetPTXSize) && resolve(lib, "nvrtcGetPTX", api->GetPTX) &&
      resolve(lib, "nvrtcGetProgramLogSize", api->GetProgramLogSize) &&
      resolve(lib, "nvrtcGetProgramLog", api->GetProgramLog);
  if (!complete) return nullptr;
  api->from = candidate;
  return api;
}

}  // namespace

std::unique_ptr<NvrtcApi> open_nvrtc() {
  for (const LibraryCandidate& candidate : nvrtc_candidates()) {
    if (auto api = open_api(candidate)) return api;
  }
  return nullptr;
}

void NvrtcApi::check(int status, const char* call) const {
  if (status != 0) throw UserError(ExitCode::failed, fmt::format("nvrtc{}: {}", call, GetErrorString(status)));
}

}  // namespace heddle::runtime
