#include "runtime/cuda/cublaslt_api.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include "ir/diagnostic.h"

namespace heddle::runtime {
namespace {

constexpr size_t kMajor = 13;
constexpr size_t kOfMajor = 10000, kOfMinor = 100;  // 130100 is 13.1.0

template <class Function>
std::string resolve(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr ? "" : name;
}

// Why the file is not what is looked for, or "".
std::string open_api(const LibraryCandidate& candidate, CublasltApi& api) {
  void* library = dlopen(candidate.path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return "it cannot be loaded";
  std::string missing;
#define HEDDLE_RESOLVE(exported, field, result, parameters) \
  if (missing.empty()) missing = resolve(library, #exported, api.field);
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

// The first reason is of what was to be taken: the loader's own search comes last.
std::unique_ptr<CublasltApi> open_cublaslt(std::string* reason) {
  std::string why;
  for (const LibraryCandidate& candidate : cublaslt_candidates()) {
    auto api = std::make_unique<CublasltApi>();
    const std::string refusal = open_api(candidate, *api);
    if (refusal.empty()) return api;
    const bool is_file = candidate.path.find('/') != std::string::npos;
    if (why.empty() && is_file) why = fmt::format("{}: {}", candidate.path, refusal);
  }
  if (reason != nullptr) *reason = why.empty() ? "libcublasLt.so.13 was not found" : why;
  return nullptr;
}

const CublasltApi* find_cublaslt(std::string* reason) {
  struct Found {
    std::string reason;
    std::unique_ptr<CublasltApi> api;
  };
  static const Found found = [] {
    Found opened;
    opened.api = open_cublaslt(&opened.reason);
    return opened;
  }();
  if (found.api == nullptr && reason != nullptr) *reason = found.reason;
  return found.api.get();
}

}  // namespace heddle::runtime
