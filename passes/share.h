// share: kernels that differ in nothing but scalar attributes become one, which takes these as arguments.
//
//   kernel @random_uniform(...) { ... {stream = 7} ... }       kernel @random_uniform(..., $stream: i64) {
//   kernel @random_uniform.1(...) { ... {stream = 8} ... }       ... {stream = $stream} ...
//   %a = call @random_uniform(%seed, %step)               ->   }
//   %b = call @random_uniform.1(%seed, %step)                  %a = call @random_uniform(%seed, %step) {stream = 7}
//                                                              %b = call @random_uniform(%seed, %step) {stream = 8}
//
// What is equal in all of them stays in the kernel, where the compiler of its text sees it. So a model's depth adds no
// kernels: equal layers differ in the streams of their dropout and of their initial values only.
#pragma once
#include "passes/pass.h"

namespace heddle::passes {

bool share(ir::Module& m, const Options& options);

}  // namespace heddle::passes
