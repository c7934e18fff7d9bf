// Compiles a program's kernel text with the system compiler and loads the result.
//
//   HostLibrary library = compile_for_host(source, cache);   // 1 to 3 s, or milliseconds when the cache has it
//   HostKernel add = library.find("add_relu");               // the symbol add_relu_host
//   add(arguments, block, blocks);
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "runtime/compile/kernel_cache.h"
#include "runtime/compile/packed_code.h"
#include "runtime/host/compiler_check.h"

namespace heddle::runtime {

// The host entry point of a kernel: runs block `block` of `blocks` on the calling thread.
using HostKernel = void (*)(void* const* arguments, int block, int blocks);

struct HostCompiler {
  std::string path;     // "/usr/bin/g++"
  std::string version;  // "g++ (Debian 12.2.0-14) 12.2.0", its first line of --version
};
// Returns $HEDDLE_CXX, else g++, else clang++, else $CXX. Throws UserError(ExitCode::missing) with the remedy when
// there is none.
HostCompiler find_host_compiler();

// A loaded shared object. It stays loaded until the process ends, because pointers to its code may exist anywhere.
class HostLibrary {
 public:
  HostKernel find(const std::string& kernel) const;  // nullptr when absent
  // Each thread must call this before it runs a kernel, so that no kernel allocates. It calls the text's function
  // heddle_prepare_thread, if there is one, which touches the thread-local memory.
  void prepare_thread() const;

  std::vector<void*> handles;
  CompilerCheck check;  // of the compiler that was used
  bool cached = false;  // nothing was compiled
  double seconds = 0;   // to compile or find it, and to load it
};

HostLibrary compile_for_host(const std::string& source, const KernelCache& cache);

// The compiled code, not loaded: a shared object for each part of the text.
struct HostObjects {
  std::vector<std::string> parts, keys;  // of the text; of the cache
  std::vector<std::string> contents;     // one per part
  CompilerCheck check;
  bool cached = true;
};
HostObjects objects_for_host(const std::string& source, const KernelCache& cache);

inline constexpr const char* kHostObject = ".so";
// Loads code from a package. No compiler is needed.
HostLibrary load_for_host(const std::string& source, const PackedCode& packed);

}  // namespace heddle::runtime
