#include "runtime/host/host_compiler.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <future>

#include "ir/diagnostic.h"
#include "runtime/compile/source_parts.h"
#include "runtime/files/temporary.h"
#include "runtime/host/host_target.h"
#include "runtime/host/run_compiler.h"
#include "runtime/process/process.h"

namespace heddle::runtime {
namespace {

std::string find_compiler_path() {
  if (const char* name = std::getenv("HEDDLE_CXX"); name != nullptr && *name != '\0') {
    if (std::string path = find_program(name); !path.empty()) return path;
    throw UserError(ExitCode::missing, fmt::format("HEDDLE_CXX names '{}', which is no program", name),
                    "set it to the path of g++ or clang++, or leave it out");
  }
  const char* chosen = std::getenv("CXX");
  for (const std::string& name :
       {std::string("g++"), std::string("clang++"), std::string(chosen == nullptr ? "" : chosen)}) {
    if (std::string path = find_program(name); !path.empty()) return path;
  }
  throw UserError(ExitCode::missing, "no C++ compiler found: the host device compiles its kernels with g++ or clang++",
                  "install one (Debian: apt-get install g++), or set HEDDLE_CXX to its path");
}

std::vector<std::string> keys_of(const std::vector<std::string>& parts, const std::string& compiler,
                                 const std::vector<std::string>& options) {
  std::vector<std::string> keys;
  keys.reserve(parts.size());
  for (const std::string& part : parts) keys.push_back(compile_key(part, compiler, options));
  return keys;
}

// Finds the parts in the cache, or compiles them, each in a thread. Does not store them yet.
void find_or_compile(HostObjects& all, const std::string& compiler, CompilerOptions which, const KernelCache& cache) {
  const std::vector<std::string>& options = compiler_options(which);
  all.keys = keys_of(all.parts, compiler, options);
  all.contents.assign(all.parts.size(), {});
  all.cached = true;
  std::vector<std::future<void>> running;
  for (size_t i = 0; i < all.parts.size(); ++i) {
    if (auto content = cache.find(all.keys[i], kHostObject)) {
      all.contents[i] = std::move(*content);
      continue;
    }
    all.cached = false;
    // Without a policy: at the same time where the system gives a thread, else in get().
    running.push_back(std::async([&, i] { all.contents[i] = compile_shared_object(all.parts[i], compiler, options); }));
  }
  for (auto& r : running) r.wait();
  for (auto& r : running) r.get();
}

}  // namespace

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

// The compiler is checked while it compiles for the first time with the fast options. If these prove wrong, the result
// is discarded. Only results of a checked compiler are stored, so cached code needs no check.
HostObjects objects_for_host(const std::string& source, const KernelCache& cache) {
  const std::string compiler = find_compiler_path();
  HostObjects objects{.parts = split_source(source, kCompileParts), .keys = {}, .contents = {}, .check = {}};
  std::optional<CompilerCheck> check = find_compiler_check(compiler, cache);
  // For another target than this processor, check first that its code runs here.
  if (!check && host_target() != kThisProcessor) check = check_compiler(compiler, cache);
  std::future<CompilerCheck> checking;
  const CompilerOptions which = check ? check->options : CompilerOptions::fast;
  if (!check) checking = std::async([&] { return check_compiler(compiler, cache); });
  find_or_compile(objects, compiler, which, cache);
  if (!check) check = checking.get();
  if (check->options != which) find_or_compile(objects, compiler, check->options, cache);
  objects.check = *check;
  return objects;
}

HostLibrary compile_for_host(const std::string& source, const KernelCache& cache) {
  const auto start = std::chrono::steady_clock::now();
  const HostObjects objects = objects_for_host(source, cache);
  HostLibrary library;
  library.check = objects.check;
  library.cached = objects.cached;
  for (size_t i = 0; i < objects.contents.size(); ++i) {
    library.handles.push_back(load_shared_object(objects.contents[i]));
    if (!objects.cached) cache.store(objects.keys[i], kHostObject, objects.contents[i]);
  }
  library.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return library;
}

HostLibrary load_for_host(const std::string& source, const PackedCode& packed) {
  const auto start = std::chrono::steady_clock::now();
  HostLibrary library;
  library.cached = true;
  for (const std::string& part : split_source(source, kCompileParts))
    library.handles.push_back(load_shared_object(packed.find(part, kHostObject)));
  library.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return library;
}

}  // namespace heddle::runtime
