// In GoogleTest's binaries a failed HEDDLE_CHECK fails its test, whose trace names the seed, and the other tests go on.
// Linked instead of ir/check.cpp.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <stdexcept>

#include "ir/check.h"

namespace heddle {

void check_failed(const char* file, int line, const char* condition, const std::string& message) {
  const std::string text =
      fmt::format("internal error: {}\n  {} does not hold at {}:{}", message, condition, file, line);
  ADD_FAILURE_AT(file, line) << text;  // while the trace still stands
  throw std::logic_error(text);
}

}  // namespace heddle
