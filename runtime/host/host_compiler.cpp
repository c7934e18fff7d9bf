#include "runtime/host/host_compiler.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>

#include "ir/diagnostic.h"
#include "runtime/process.h"
#include "runtime/source_parts.h"
#include "runtime/temporary.h"

namespace heddle::runtime {
namespace {

constexpr double kDeadline = 120;  // seconds
constexpr const char* kExtension = ".so";

// Contraction and reassociation stay off, so that a value does not depend on the kernel around it; -ffast-math would
// also set flush-to-zero for the whole process at link time. Signed zeros stay on: without them g++ turns a sum of
// selected elements (c ? x : 0) into a branch, which does not vectorise (five times slower).
const std::vector<std::string>& options() {
  static const std::vector<std::string> list = {"-std=c++20",
                                                "-O3",
                                                "-march=native",
                                                "-fno-math-errno",
                                                "-fno-trapping-math",
                                                "-ffp-contract=off",
                                                "-fopenmp-simd",
                                                "-fno-exceptions",
                                                "-fno-rtti",
                                                "-DHD_HOST",
                                                "-fPIC",
                                                "-shared",
                                                "-w"};
  return list;
}

std::string find_compiler_path() {
  if (const char* wanted = std::getenv("HEDDLE_CXX"); wanted != nullptr && *wanted != '\0') {
    if (std::string path = find_program(wanted); !path.empty()) return path;
    throw UserError(ExitCode::missing, fmt::format("HEDDLE_CXX names '{}', which is no program", wanted),
                    "set it to the path of g++ or clang++, or leave it out");
  }
  const char* chosen = std::getenv("CXX");
  for (const std::string& name :
       {std::string("g++"), std::string("clang++"), std::string(chosen == nullptr ? "" : chosen)}) {
    if (std::string path = find_program(name); !path.empty()) return path;
  }
  throw UserError(ExitCode::missing, "no C++ compiler found: the host device compiles its kernels with g++ or clang++",
                  "install one (Debian: apt-get install g++), or set CXX to its path");
}

// What the compiler is, without starting it: another version is another file.
std::string fingerprint(const std::string& path) {
  std::error_code ec;
  const std::string real = std::filesystem::canonical(path, ec).string();
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return path;
  return fmt::format("{} {} {}.{}", real, info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
}

// What -march=native depends on: the model and flags of the first processor.
std::string processor() {
  std::ifstream in("/proc/cpuinfo");
  std::string text;
  for (std::string line; std::getline(in, line) && !line.empty();) {
    for (const char* key : {"vendor_id", "cpu family", "model", "stepping", "flags", "Features", "CPU "}) {
      if (line.starts_with(key)) text += line + "\n";
    }
  }
  return text;
}

std::string key_of(const std::string& source, const std::string& compiler) {
  std::string all_options;
  for (const std::string& o : options()) all_options += o + "\n";
  return cache_key({source, all_options, fingerprint(compiler), processor()});
}

std::string read_all(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string((std::istreambuf_iterator<char>(in)), {});
}

// The line that "kernels.cpp:12:5: error: ..." (g++, clang++) or "kernels.cu(12): error: ..." (NVRTC) speaks of, else
// 0.
int error_line(const std::string& line) {
  const size_t error = line.find("error");
  const size_t name = line.find("kernels.c");
  if (error == std::string::npos || name == std::string::npos || name > error) return 0;
  const size_t mark = line.find_first_of(":(", name);
  if (mark == std::string::npos) return 0;
  return std::atoi(line.c_str() + mark + 1);
}

void* load(const std::string& path) {
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) throw UserError(ExitCode::failed, fmt::format("cannot load compiled kernels: {}", dlerror()));
  return handle;
}

// Loads a copy with a name of its own: the loader would take an old object for a new one of the same name, and a cache
// entry that is overwritten in place would pull the code from under a running process.
void* load_copy(const std::string& content) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/kernels.so";
  std::ofstream(path, std::ios::binary) << content;
  return load(path);
}

void* compile(const std::string& source, const std::string& compiler, const std::string& key,
              const KernelCache& cache) {
  const TemporaryFolder folder;
  const std::string in = folder.path() + "/kernels.cpp", out = folder.path() + "/kernels.so";
  std::ofstream(in, std::ios::binary) << source;
  std::vector<std::string> arguments = {compiler};
  arguments.insert(arguments.end(), options().begin(), options().end());
  arguments.insert(arguments.end(), {"-o", out, in});
  const ProcessResult result = run_process(arguments, folder.path() + "/log", kDeadline);
  if (result.timed_out) {
    throw UserError(ExitCode::limit, fmt::format("{} did not finish within {} seconds", compiler, kDeadline));
  }
  if (result.status != 0) {
    throw UserError(ExitCode::failed, fmt::format("{} failed on the generated kernels (status {})\n{}", compiler,
                                                  result.status, numbered_errors(result.output, source)));
  }
  void* handle = load(out);
  cache.store(key, kExtension, read_all(out));
  return handle;
}

}  // namespace

std::string numbered_errors(std::string_view log, std::string_view source) {
  constexpr int kShown = 3;
  constexpr size_t kLines = 40;
  std::string out;
  size_t count = 0;
  int errors = 0;
  while (!log.empty() && count++ < kLines && errors < kShown) {
    const size_t end = std::min(log.find('\n'), log.size());
    const std::string line(log.substr(0, end));
    log.remove_prefix(std::min(end + 1, log.size()));
    out += line + "\n";
    const int number = error_line(line);
    if (number == 0) continue;
    out += numbered_lines(source, number, 3);
    ++errors;
  }
  return out;
}

HostCompiler find_host_compiler() {
  HostCompiler found{find_compiler_path(), {}};
  const TemporaryFolder folder;
  found.version = run_process({found.path, "--version"}, folder.path() + "/log", 10).output;
  found.version.resize(std::min(found.version.find('\n'), found.version.size()));
  return found;
}

HostKernel HostLibrary::find(const std::string& kernel) const {
  for (void* handle : handles) {
    if (void* symbol = dlsym(handle, (kernel + "_host").c_str())) return reinterpret_cast<HostKernel>(symbol);
  }
  return nullptr;
}

void HostLibrary::prepare_thread() const {
  for (void* handle : handles) {
    if (void* symbol = dlsym(handle, "heddle_prepare_thread")) reinterpret_cast<void (*)()>(symbol)();
  }
}

HostLibrary compile_for_host(const std::string& source, const KernelCache& cache) {
  const auto start = std::chrono::steady_clock::now();
  const std::string compiler = find_compiler_path();
  HostLibrary library;
  library.cached = true;
  std::vector<std::future<void*>> running;
  for (const std::string& part : split_source(source, kCompileParts)) {
    const std::string key = key_of(part, compiler);
    if (const auto content = cache.find(key, kExtension)) {
      library.handles.push_back(load_copy(*content));
    } else {
      library.cached = false;
      // Without a policy: at the same time where the system gives a thread, else in get().
      running.push_back(std::async([&cache, part, compiler, key] { return compile(part, compiler, key, cache); }));
    }
  }
  for (auto& r : running) library.handles.push_back(r.get());
  library.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return library;
}

}  // namespace heddle::runtime

#if HEDDLE_SANITIZED
// Up to GCC 13 and clang 16, AddressSanitizer takes a loaded library's thread-local block that happens to begin 16
// bytes into a page for one of glibc 2.19 with a header before it, and LeakSanitizer dies of the addresses it reads
// there (google/sanitizers issue 1322). Each loaded program has such a block.
extern "C" const char* __asan_default_options() { return "intercept_tls_get_addr=0"; }
#endif
