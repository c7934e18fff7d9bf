#include "runtime/compile/compiler_seconds.h"

#include <fmt/format.h>

#include <cstdlib>

#include "ir/diagnostic.h"

namespace heddle::runtime {

double compiler_seconds() {
  constexpr double kDefault = 120, kMost = 1e6;
  const char* text = std::getenv("HEDDLE_COMPILER_SECONDS");
  if (text == nullptr || *text == '\0') return kDefault;
  char* end = nullptr;
  const double seconds = std::strtod(text, &end);
  if (*end != '\0' || !(seconds > 0 && seconds <= kMost))
    throw UserError(ExitCode::usage,
                    fmt::format("HEDDLE_COMPILER_SECONDS is '{}', expected a number of seconds", text));
  return seconds;
}

}  // namespace heddle::runtime
