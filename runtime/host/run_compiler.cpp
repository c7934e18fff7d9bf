#include "runtime/host/run_compiler.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "ir/diagnostic.h"
#include "runtime/compile/compiler_seconds.h"
#include "runtime/compile/kernel_cache.h"
#include "runtime/compile/source_parts.h"
#include "runtime/files/file.h"
#include "runtime/files/temporary.h"
#include "runtime/host/host_target.h"
#include "runtime/process/process.h"

namespace heddle::runtime {
namespace {

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

std::vector<std::string> with(std::vector<std::string> first) {
  // Contraction and reassociation stay off, so that a value does not depend on the kernel around it; -ffast-math would
  // also set flush-to-zero for the whole process at link time. Signed zeros stay on: without them g++ turns a sum of
  // selected elements (c ? x : 0) into a branch, which does not vectorise (five times slower).
  const char* common[] = {"-std=c++20",
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
  first.push_back("-march=" + host_target());
  first.insert(first.end(), std::begin(common), std::end(common));
  return first;
}

constexpr const char* kTemporaryHelp = "TMPDIR=FOLDER names another place for temporary files";

bool names_a_line(const std::string& log) {
  std::istringstream in(log);
  for (std::string line; std::getline(in, line);)
    if (error_line(line) > 0) return true;
  return false;
}

}  // namespace

void write_temporary(const std::string& path, std::string_view content) {
  try {
    File file(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    file.write(content.data(), std::ssize(content));
    file.close();
  } catch (const UserError& error) {
    throw UserError(ExitCode::failed, error.diagnostics().front().message, kTemporaryHelp);
  }
}

void require_room(const TemporaryFolder& folder) {
  constexpr size_t kCompilerNeeds = size_t{1} << 20;
  write_temporary(folder.path() + "/room", std::string(kCompilerNeeds, ' '));
}

const std::vector<std::string>& compiler_options(CompilerOptions which) {
  static const std::vector<std::string> fast = with({"-O3"});
  // What has been wrong came from vectorised loops.
  static const std::vector<std::string> plain = with({"-O2", "-fno-tree-vectorize", "-fno-tree-slp-vectorize"});
  return which == CompilerOptions::fast ? fast : plain;
}

std::string compile_key(const std::string& source, const std::string& compiler,
                        const std::vector<std::string>& options) {
  std::string all;
  for (const std::string& o : options) all += o + "\n";
  return cache_key({source, all, fingerprint(compiler), processor()});
}

std::string compile_shared_object(const std::string& source, const std::string& compiler,
                                  const std::vector<std::string>& options) {
  const TemporaryFolder folder;
  const std::string in = folder.path() + "/kernels.cpp", out = folder.path() + "/kernels.so";
  write_temporary(in, source);
  std::vector<std::string> arguments = {compiler};
  arguments.insert(arguments.end(), options.begin(), options.end());
  arguments.insert(arguments.end(), {"-o", out, in});
  const double seconds = compiler_seconds();
  const ProcessResult result = run_process(arguments, folder.path() + "/log", seconds);
  if (result.timed_out) {
    throw UserError(ExitCode::limit, fmt::format("{} did not finish within {} seconds", compiler, seconds),
                    kSlowCompilerHelp);
  }
  if (result.status != 0) {
    if (result.output.find("No space left on device") != std::string::npos)
      throw UserError(ExitCode::failed, folder.path() + ": cannot be written: No space left on device", kTemporaryHelp);
    if (!names_a_line(result.output)) require_room(folder);
    throw UserError(ExitCode::failed, fmt::format("{} failed on the generated kernels (status {})\n{}", compiler,
                                                  result.status, numbered_errors(result.output, source)));
  }
  std::string object = read_all(out);
  if (!object.starts_with("\177ELF")) {
    throw UserError(ExitCode::missing, compiler + " made no machine code of the generated kernels",
                    "HEDDLE_CXX names another C++ compiler: g++ 12 or clang++ 14, or a later one");
  }
  return object;
}

void* load_shared_object(std::string_view content) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/kernels.so";
  write_temporary(path, content);
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) throw UserError(ExitCode::failed, fmt::format("cannot load compiled kernels: {}", dlerror()));
  return handle;
}

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

}  // namespace heddle::runtime

#if HEDDLE_SANITIZED
// Up to GCC 13 and clang 16, AddressSanitizer takes a loaded library's thread-local block that happens to begin 16
// bytes into a page for one of glibc 2.19 with a header before it, and LeakSanitizer dies of the addresses it reads
// there (google/sanitizers issue 1322). Each loaded program has such a block. The sanitizer's runtime looks for the
// symbol, so it is not hidden.
extern "C" [[gnu::visibility("default")]] const char* __asan_default_options() { return "intercept_tls_get_addr=0"; }
#endif
