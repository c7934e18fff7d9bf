// Tests a system compiler once before its code is used: compiles small kernels with known results, and compares.
//
//   check_compiler("/usr/bin/g++", cache)   // half a second, or a file of the cache
//     -> {.options = CompilerOptions::fast, .cases = 23, .wrong = ""}
//
// g++ 12 vectorises some loops wrongly that generated text could contain (runtime/host/known_answers.cuh). Another
// compiler may have other faults. Where the fast options give wrong results, the plain options are tested.
#pragma once
#include <optional>
#include <string>

#include "runtime/compile/kernel_cache.h"
#include "runtime/host/run_compiler.h"

namespace heddle::runtime {

struct CompilerCheck {
  CompilerOptions options = CompilerOptions::fast;  // options that give the known results
  int cases = 0;
  std::string wrong;  // "guarded rows of 2, no contraction": what the fast options get wrong
};

// The cached result of an earlier check of this compiler; nothing where the compiler's file has changed since.
std::optional<CompilerCheck> find_compiler_check(const std::string& compiler, const KernelCache& cache);
// Throws UserError when the results are wrong with the plain options, too.
CompilerCheck check_compiler(const std::string& compiler, const KernelCache& cache);

}  // namespace heddle::runtime
