#include "runtime/cuda/nvrtc.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <chrono>
#include <future>
#include <memory>
#include <mutex>

#include "ir/diagnostic.h"
#include "runtime/host/run_compiler.h"
#include "runtime/library_search.h"
#include "runtime/source_parts.h"

namespace heddle::runtime {
namespace {

constexpr double kDeadline = 120;  // seconds
using Clock = std::chrono::steady_clock;

// The functions of NVRTC that are used, by their names without "nvrtc". Statuses and handles as in its C interface.
struct Api {
  using Program = struct NvrtcProgram*;
  int (*Version)(int*, int*) = nullptr;
  const char* (*GetErrorString)(int) = nullptr;
  int (*CreateProgram)(Program*, const char*, const char*, int, const char* const*, const char* const*) = nullptr;
  int (*DestroyProgram)(Program*) = nullptr;
  int (*CompileProgram)(Program, int, const char* const*) = nullptr;
  int (*GetCUBINSize)(Program, size_t*) = nullptr;
  int (*GetCUBIN)(Program, char*) = nullptr;
  int (*GetPTXSize)(Program, size_t*) = nullptr;
  int (*GetPTX)(Program, char*) = nullptr;
  int (*GetProgramLogSize)(Program, size_t*) = nullptr;
  int (*GetProgramLog)(Program, char*) = nullptr;
  int (*SetFlowCallback)(Program, int (*)(void*, void*), void*) = nullptr;  // NVRTC 13; optional
  LibraryCandidate from;

  void check(int status, const char* call) const {
    if (status != 0) throw UserError(ExitCode::failed, fmt::format("nvrtc{}: {}", call, GetErrorString(status)));
  }
};

template <class Function>
bool resolve(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

// Null when the file cannot be loaded or is something else. What was opened stays open.
std::unique_ptr<Api> open_api(const LibraryCandidate& candidate) {
  if (const std::string builtins = nvrtc_builtins(candidate.path); !builtins.empty())
    dlopen(builtins.c_str(), RTLD_NOW);
  void* lib = dlopen(candidate.path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (lib == nullptr) return nullptr;
  auto api = std::make_unique<Api>();
  const bool complete =
      resolve(lib, "nvrtcVersion", api->Version) && resolve(lib, "nvrtcGetErrorString", api->GetErrorString) &&
      resolve(lib, "nvrtcCreateProgram", api->CreateProgram) &&
      resolve(lib, "nvrtcDestroyProgram", api->DestroyProgram) &&
      resolve(lib, "nvrtcCompileProgram", api->CompileProgram) &&
      resolve(lib, "nvrtcGetCUBINSize", api->GetCUBINSize) && resolve(lib, "nvrtcGetCUBIN", api->GetCUBIN) &&
      resolve(lib, "nvrtcGetPTXSize", api->GetPTXSize) && resolve(lib, "nvrtcGetPTX", api->GetPTX) &&
      resolve(lib, "nvrtcGetProgramLogSize", api->GetProgramLogSize) &&
      resolve(lib, "nvrtcGetProgramLog", api->GetProgramLog);
  if (!complete) return nullptr;
  resolve(lib, "nvrtcSetFlowCallback", api->SetFlowCallback);
  api->from = candidate;
  return api;
}

std::unique_ptr<Api> open_api() {
  for (const LibraryCandidate& candidate : nvrtc_candidates()) {
    if (auto api = open_api(candidate)) return api;
  }
  return nullptr;
}

UserError missing() {
  return {ExitCode::missing, "NVRTC 13 was not found: it compiles kernels for NVIDIA GPUs",
          "run tools/setup, which fetches it, or set HEDDLE_NVRTC to libnvrtc.so.13"};
}

struct Output {
  std::string cubin, log, ptx;
};

std::vector<std::string> compile_options(const CudaOptions& options) {
  return {"-arch=" + options.arch, "-std=c++20", "-fmad=false", "-DHD_CUDA", "--ptxas-options=-v", "-w"};
}

// Called by NVRTC now and then during a compilation; anything but 0 cancels it.
int past_deadline(void* deadline, void*) {
  return Clock::now() > *static_cast<const Clock::time_point*>(deadline) ? 1 : 0;
}

Output compile(const Api& api, const std::string& source, const CudaOptions& options) {
  const auto deadline = Clock::now() + std::chrono::seconds(static_cast<int>(kDeadline));
  Api::Program created = nullptr;
  api.check(api.CreateProgram(&created, source.c_str(), "kernels.cu", 0, nullptr, nullptr), "CreateProgram");
  const auto destroy = [&api](Api::Program p) { api.DestroyProgram(&p); };
  const std::unique_ptr<NvrtcProgram, decltype(destroy)> program(created, destroy);
  if (api.SetFlowCallback != nullptr) {
    api.SetFlowCallback(created, past_deadline, const_cast<Clock::time_point*>(&deadline));
  }
  const std::vector<std::string> list = compile_options(options);
  std::vector<const char*> arguments;
  arguments.reserve(list.size());
  for (const std::string& o : list) arguments.push_back(o.c_str());
  const int status = api.CompileProgram(created, static_cast<int>(arguments.size()), arguments.data());

  const auto fetch = [&](auto size_of, auto get, const char* call) {
    size_t size = 0;
    api.check(size_of(created, &size), call);
    std::string text(size, '\0');
    api.check(get(created, text.data()), call);
    return text;
  };
  Output out;
  out.log = fetch(api.GetProgramLogSize, api.GetProgramLog, "GetProgramLog");
  while (!out.log.empty() && out.log.back() == '\0') out.log.pop_back();
  if (status != 0 && Clock::now() > deadline) {
    throw UserError(ExitCode::limit, fmt::format("NVRTC did not finish within {} seconds", kDeadline));
  }
  if (status != 0) {
    throw UserError(ExitCode::failed, fmt::format("nvrtcCompileProgram for {}: {}\n{}", options.arch,
                                                  api.GetErrorString(status), numbered_errors(out.log, source)));
  }
  out.cubin = fetch(api.GetCUBINSize, api.GetCUBIN, "GetCUBIN");
  if (options.ptx) {
    out.ptx = fetch(api.GetPTXSize, api.GetPTX, "GetPTX");
    while (!out.ptx.empty() && out.ptx.back() == '\0') out.ptx.pop_back();
  }
  return out;
}

// What the library is, without opening it: another version is another file.
std::string fingerprint(const LibraryCandidate& candidate) {
  struct stat info {};
  if (stat(candidate.path.c_str(), &info) != 0) return {};
  return fmt::format("{} {} {}.{}", candidate.path, info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
}

// NVRTC is opened when the first part is not in the cache.
class Compiler {
 public:
  Compiler(const CudaOptions& options, const KernelCache& cache) : options_(options), cache_(cache) {
    const std::vector<LibraryCandidate> candidates = nvrtc_candidates();
    library_ = candidates.empty() ? "" : fingerprint(candidates.front());
    if (library_.empty()) library_ = version(api());  // by the loader's search: the file is not known
  }

  std::string key(const std::string& part) const {
    std::string all;
    for (const std::string& o : compile_options(options_)) all += o + "\n";
    return cache_key({part, all, library_});
  }

  bool find(const std::string& key, Output& out) const {
    const auto cubin = cache_.find(key, ".cubin"), log = cache_.find(key, ".log");
    const auto ptx = options_.ptx ? cache_.find(key, ".ptx") : std::string();
    if (!cubin || !log || !ptx) return false;
    out = {*cubin, *log, *ptx};
    return true;
  }

  Output make(const std::string& part, const std::string& key) {
    Output out = compile(api(), part, options_);
    cache_.store(key, ".cubin", out.cubin);
    cache_.store(key, ".log", out.log);
    if (options_.ptx) cache_.store(key, ".ptx", out.ptx);
    return out;
  }

  const Api& api() {
    const std::lock_guard lock(opening_);
    if (!api_) api_ = open_api();
    if (!api_) throw missing();
    return *api_;
  }

  static std::string version(const Api& api) {
    int major = 0, minor = 0;
    api.check(api.Version(&major, &minor), "Version");
    return fmt::format("{}.{}", major, minor);
  }

 private:
  const CudaOptions& options_;
  const KernelCache& cache_;
  std::string library_;
  std::mutex opening_;
  std::unique_ptr<Api> api_;
};

}  // namespace

CudaBinary compile_for_cuda(const std::string& source, const CudaOptions& options, const KernelCache& cache) {
  const auto start = Clock::now();
  Compiler compiler(options, cache);
  const std::vector<std::string> parts = split_source(source, options.parts);
  std::vector<Output> outputs(parts.size());
  std::vector<std::future<void>> running;
  for (size_t i = 0; i < parts.size(); ++i) {
    const std::string key = compiler.key(parts[i]);
    if (compiler.find(key, outputs[i])) continue;
    // Without a policy: at the same time where the system gives a thread, else in wait().
    running.push_back(std::async([&, i, key] { outputs[i] = compiler.make(parts[i], key); }));
  }
  for (auto& r : running) r.wait();
  for (auto& r : running) r.get();
  CudaBinary binary;
  binary.cached = running.empty();
  for (Output& o : outputs) {
    const auto kernels = parse_resources(o.log);
    binary.kernels.insert(binary.kernels.end(), kernels.begin(), kernels.end());
    binary.ptx += o.ptx;
    binary.images.push_back(std::move(o.cubin));
  }
  binary.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return binary;
}

NvrtcInfo find_nvrtc() {
  const std::unique_ptr<Api> api = open_api();
  if (!api) return {};
  return {true, api->from.path, api->from.found_by, Compiler::version(*api)};
}

}  // namespace heddle::runtime
