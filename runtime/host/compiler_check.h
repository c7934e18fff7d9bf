// Known answers: small kernels whose results are known, compiled by a compiler once before its code is trusted.
//
//   check_compiler("/usr/bin/g++", cache)   // half a second, or a file of the cache
//     -> {.options = CompilerOptions::fast, .cases = 23, .wrong = ""}
//
// g++ 12 vectorises loops wrongly in shapes that generated text could have (runtime/host/known_answers.cuh). The next
// compiler has other faults; what the fast options get wrong is tried with the plain ones.
#pragma once
#include <optional>
#include <string>

#include "runtime/compile/kernel_cache.h"
#include "runtime/host/run_compiler.h"

namespace heddle::runtime {

struct CompilerCheck {
  CompilerOptions options = CompilerOptions::fast;  // those that give the known answers
  int cases = 0;
  std::string wrong;  // "guarded rows of 2, no contraction": what the fast options get wrong
};

// The result of an earlier check of this compiler, as it is on disk now.
std::optional<CompilerCheck> find_compiler_check(const std::string& compiler, const KernelCache& cache);
// Throws UserError when the known answers are wrong with the plain options, too.
CompilerCheck check_compiler(const std::string& compiler, const KernelCache& cache);

}  // namespace heddle::runtime
