// The time limit for compilers of kernels. A compiler that takes longer is ended.
#pragma once

namespace heddle::runtime {

// The limit in seconds: $HEDDLE_COMPILER_SECONDS, or 120 where it is not set. Throws UserError (exit 2) where the
// variable is not a number above 0 and up to a million.
double compiler_seconds();

inline constexpr const char* kSlowCompilerHelp = "HEDDLE_COMPILER_SECONDS allows more; a smaller model takes less";

}  // namespace heddle::runtime
