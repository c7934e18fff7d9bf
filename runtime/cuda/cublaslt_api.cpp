#include "runtime/cuda/cublaslt_api.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include "ir/diagnostic.h"
#include "runtime/cuda/open_library.h"

namespace heddle::runtime {
namespace {

constexpr size_t kMajor = 13;
constexpr size_t kOfMajor = 10000, kOfMinor = 100;  // 130100 is 13.1.0

// Loads the functions. Returns "", or why the file is not a suitable library.
std::string open_api(const LibraryCandidate& candidate, CublasltApi& api) {
  void* library = dlopen(candidate.path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return "it cannot be loaded";
  std::string missing;
#define HEDDLE_RESOLVE(exported, field, result, parameters) \
  if (!resolve(library, #exported, api.field) && missing.empty()) missing = #exported;
  HEDDLE_CUBLASLT_FUNCTIONS(HEDDLE_RESOLVE)
#undef HEDDLE_RESOLVE
  if (!missing.empty()) return fmt::format("it has no {}", missing);
  if (api.GetVersion() / kOfMajor != kMajor)
    return fmt::format("it is version {}, and {} is needed", api.version(), kMajor);
  api.from = candidate;
  return {};
}

}  // namespace

std::string CublasltApi::version() const {
  const size_t version = GetVersion();
  return fmt::format("{}.{}.{}", version / kOfMajor, version % kOfMajor / kOfMinor, version % kOfMinor);
}

void CublasltApi::check(cublaslt::Status status, const char* call, const std::string& about) const {
  if (status == cublaslt::kSuccess) return;
  const char* name = GetStatusName(status);
  const std::string message = fmt::format("{}: {}{}{}", call, name != nullptr ? name : fmt::format("status {}", status),
                                          about.empty() ? "" : " of ", about);
  if (status == cublaslt::kAllocFailed)
    throw UserError(ExitCode::limit, message, "use a smaller batch, or free the GPU of other programs");
  throw UserError(ExitCode::failed, message, "leave --libraries out: then all kernels are generated");
}

std::unique_ptr<CublasltApi> open_cublaslt(std::string* reason) {
  return open_first<CublasltApi>(cublaslt_candidates(), "libcublasLt.so.13", open_api, reason);
}

const CublasltApi* find_cublaslt(std::string* reason) { return find_once<CublasltApi>(open_cublaslt, reason); }

}  // namespace heddle::runtime
