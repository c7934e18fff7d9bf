// share: merges kernels that differ only in scalar attributes into one kernel, which takes these as arguments.
//
//   kernel @random_uniform(...) { ... {stream = 7} ... }       kernel @random_uniform(..., $stream: i64) {
//   kernel @random_uniform.1(...) { ... {stream = 8} ... }       ... {stream = $stream} ...
//   %a = call @random_uniform(%seed, %step)               ->   }
//   %b = call @random_uniform.1(%seed, %step)                  %a = call @random_uniform(%seed, %step) {stream = 7}
//                                                              %b = call @random_uniform(%seed, %step) {stream = 8}
//
// Attributes that are equal in all of them stay constants of the kernel, so that the compiler of its text can use them.
// A deeper model needs no further kernels: its equal layers differ only in the random streams of dropout and initial
// values.
#pragma once
#include "passes/pass.h"

namespace heddle::passes {

bool share(ir::Module& m, const Options& options);

}  // namespace heddle::passes
