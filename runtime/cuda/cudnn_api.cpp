#include "runtime/cuda/cudnn_api.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "ir/diagnostic.h"
#include "runtime/cuda/open_library.h"

namespace heddle::runtime {
namespace {

constexpr size_t kMajor = 9, kLeastMinor = 8;       // the first that plans without a device
constexpr size_t kOfMajor = 10000, kOfMinor = 100;  // 91900 is 9.19.0

bool is_known(size_t version) { return version / kOfMajor == kMajor && version % kOfMajor / kOfMinor >= kLeastMinor; }

// Loads the functions. Returns "", or why the file is not a suitable library.
std::string open_api(const LibraryCandidate& candidate, CudnnApi& api) {
  void* library = dlopen(candidate.path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return "it cannot be loaded";
  std::string missing;
#define HEDDLE_RESOLVE(exported, field, result, parameters) \
  if (!resolve(library, #exported, api.field) && missing.empty()) missing = #exported;
  HEDDLE_CUDNN_FUNCTIONS(HEDDLE_RESOLVE)
#undef HEDDLE_RESOLVE
  if (!missing.empty()) return fmt::format("it has no {}", missing);
  if (!is_known(api.GetVersion()))
    return fmt::format("it is version {}, and {}.{} or a later {} is needed", api.version(), kMajor, kLeastMinor,
                       kMajor);
  // The library opens its other files here, at the first call.
  cudnn::Object object = nullptr;
  if (const cudnn::Status status = api.ObjectCreate(cudnn::kTensor, &object); status != cudnn::kSuccess)
    return fmt::format("it makes no descriptor: {}", api.describe(status));
  api.ObjectDestroy(object);
  api.from = candidate;
  return {};
}

}  // namespace

std::string CudnnApi::version() const {
  const size_t version = GetVersion();
  return fmt::format("{}.{}.{}", version / kOfMajor, version % kOfMajor / kOfMinor, version % kOfMinor);
}

std::string CudnnApi::describe(cudnn::Status status) const {
  constexpr size_t kMost = 200;  // of several lines
  std::array<char, 4096> text{};
  GetLastErrorString(text.data(), text.size());
  std::string said(text.data());
  said = said.substr(0, std::min({said.find('\n'), said.size(), kMost}));
  const char* name = GetErrorString(status);
  const std::string in_words = name != nullptr ? name : fmt::format("status {}", status);
  return said.empty() ? in_words : fmt::format("{} ({})", in_words, said);
}

void CudnnApi::check(cudnn::Status status, const char* call, const std::string& about) const {
  if (status == cudnn::kSuccess) return;
  const std::string message = fmt::format("{}: {}{}{}", call, describe(status), about.empty() ? "" : " of ", about);
  if (status == cudnn::kHostAllocFailed || status == cudnn::kDeviceAllocFailed)
    throw UserError(ExitCode::limit, message, "use a smaller batch, or free the GPU of other programs");
  throw UserError(ExitCode::failed, message, "leave cudnn out of --libraries: then all convolutions are generated");
}

std::unique_ptr<CudnnApi> open_cudnn(std::string* reason) {
  return open_first<CudnnApi>(cudnn_candidates(), "libcudnn.so.9", open_api, reason);
}

const CudnnApi* find_cudnn(std::string* reason) { return find_once<CudnnApi>(open_cudnn, reason); }

}  // namespace heddle::runtime
