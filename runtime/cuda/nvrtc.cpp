#include "runtime/cuda/nvrtc.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <future>
#include <memory>

#include "ir/diagnostic.h"
#include "runtime/compile/compiler_seconds.h"
#include "runtime/compile/library_search.h"
#include "runtime/compile/source_parts.h"
#include "runtime/cuda/nvrtc_api.h"
#include "runtime/cuda/nvrtc_child.h"
#include "runtime/files/temporary.h"
#include "runtime/host/run_compiler.h"
#include "runtime/process/process.h"

namespace heddle::runtime {
namespace {

using Clock = std::chrono::steady_clock;

UserError missing() {
  return {ExitCode::missing, "NVRTC 13 was not found: it compiles kernels for NVIDIA GPUs",
          "install NVRTC 13 (tools/setup of the sources fetches it), or set HEDDLE_NVRTC to libnvrtc.so.13"};
}

struct Output {
  std::string cubin, log, ptx;
};

std::vector<std::string> compile_options(const CudaOptions& options) {
  return {"-arch=" + options.arch, "-std=c++20", "-fmad=false", "-DHD_CUDA", "--ptxas-options=-v", "-w"};
}

std::string slow_help(const std::string& source) {
  return (is_persistent(source) ? "HEDDLE_CUDA_STEPS=launches needs no persistent kernels; " : "") +
         std::string(kSlowCompilerHelp);
}

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string((std::istreambuf_iterator<char>(in)), {});
}

// The error of the compiling process: its output, or the signal that ended it.
UserError ended(const std::string& program, const ProcessResult& result) {
  constexpr int kSignalled = 128;
  const int signal = result.status - kSignalled;
  if (signal <= 0)
    return {ExitCode::failed, fmt::format("{} ended with status {}: {}", program, result.status,
                                          result.output.empty() ? "it said nothing" : result.output)};
  return {ExitCode::failed, fmt::format("{} was ended by signal {} ({})", program, signal, strsignal(signal)),
          signal == SIGKILL ? "a system that is short of memory ends processes so: free some, or make the model smaller"
                            : ""};
}

// Compiles in a child process (runtime/cuda/nvrtc_child.h), which is killed when it takes too long. NVRTC takes minutes
// for some texts, and reacts late to a request to stop.
Output compile(const std::string& source, const CudaOptions& options) {
  const TemporaryFolder folder;
  const std::string in = folder.path() + "/kernels.cu", out = folder.path() + "/kernels";
  write_temporary(in, source);
  std::vector<std::string> arguments = {nvrtc_child_program(), in, out};
  for (const std::string& o : compile_options(options)) arguments.push_back(o);
  const double seconds = compiler_seconds();
  const ProcessResult result = run_process(arguments, folder.path() + "/output", seconds);
  if (result.timed_out)
    throw UserError(ExitCode::limit, fmt::format("NVRTC did not finish within {} seconds", seconds), slow_help(source));
  if (result.status == kNvrtcMissing) throw missing();
  if (result.status == kNvrtcRejects)
    throw UserError(ExitCode::failed, fmt::format("NVRTC rejects the generated kernels for {}\n{}", options.arch,
                                                  numbered_errors(read_file(out + ".log"), source)));
  if (result.status != 0 && result.output.empty()) require_room(folder);
  if (result.status != 0) throw ended(arguments[0], result);
  return {read_file(out + ".cubin"), read_file(out + ".log"), options.ptx ? read_file(out + ".ptx") : ""};
}

// Identifies the library's file without opening the library. Another version is another file.
std::string fingerprint(const LibraryCandidate& candidate) {
  struct stat info {};
  if (stat(candidate.path.c_str(), &info) != 0) return {};
  return fmt::format("{} {} {}.{}", candidate.path, info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
}

// NVRTC is opened when the first part is not in the cache.
class Compiler {
 public:
  Compiler(const CudaOptions& options, const KernelCache& cache) : options_(options), cache_(cache) {
    if (const char* version = std::getenv("HEDDLE_NVRTC_VERSION"); version != nullptr && *version != '\0') {
      library_ = std::string("NVRTC ") + version;  // of whoever filled the cache, perhaps on another machine
      return;
    }
    const std::vector<LibraryCandidate> candidates = nvrtc_candidates();
    library_ = candidates.empty() ? "" : fingerprint(candidates.front());
    if (library_.empty()) library_ = version(open());  // by the loader's search: the file is not known
  }

  std::string key(const std::string& part) const {
    std::string all = "2\n";  // before, what a full disk had cut could be kept
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

  Output make(const std::string& part, const std::string& key) const {
    Output out = compile(part, options_);
    cache_.store(key, ".cubin", out.cubin);
    cache_.store(key, ".log", out.log);
    if (options_.ptx) cache_.store(key, ".ptx", out.ptx);
    return out;
  }

  static std::string version(const NvrtcApi& api) {
    int major = 0, minor = 0;
    api.check(api.Version(&major, &minor), "Version");
    return fmt::format("{}.{}", major, minor);
  }

 private:
  static NvrtcApi open() {
    const std::unique_ptr<NvrtcApi> api = open_nvrtc();
    if (!api) throw missing();
    return *api;
  }

  const CudaOptions& options_;
  const KernelCache& cache_;
  std::string library_;
};

}  // namespace

std::vector<std::string> cuda_parts(const std::string& source, const CudaOptions& options) {
  std::vector<std::string> parts = split_source(source, options.parts);
  if (std::string all = persistent_source(source); options.persistent && !all.empty()) parts.push_back(std::move(all));
  return parts;
}

CudaBinary compile_for_cuda(const std::string& source, const CudaOptions& options, const KernelCache& cache) {
  const auto start = Clock::now();
  Compiler compiler(options, cache);
  const std::vector<std::string> parts = cuda_parts(source, options);
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
    if (options.ptx) binary.ptx.push_back(std::move(o.ptx));
    binary.images.push_back(std::move(o.cubin));
  }
  binary.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return binary;
}

NvrtcInfo find_nvrtc() {
  const std::unique_ptr<NvrtcApi> api = open_nvrtc();
  if (!api) return {};
  int count = 0;
  api->check(api->GetNumSupportedArchs(&count), "GetNumSupportedArchs");
  std::vector<int> capabilities(static_cast<size_t>(count));
  api->check(api->GetSupportedArchs(capabilities.data()), "GetSupportedArchs");
  return {true, api->from.path, api->from.found_by, Compiler::version(*api), std::move(capabilities)};
}

}  // namespace heddle::runtime
