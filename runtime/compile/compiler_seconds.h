// How long a compiler of kernels may take before it is ended.
#pragma once

namespace heddle::runtime {

// $HEDDLE_COMPILER_SECONDS, or 120. Throws UserError (exit 2) where the variable holds anything but a positive number.
double compiler_seconds();

inline constexpr const char* kSlowCompilerHelp = "HEDDLE_COMPILER_SECONDS allows more; a smaller model takes less";

}  // namespace heddle::runtime
