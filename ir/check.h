// HEDDLE_CHECK: an invariant of the compiler itself. No input reaches a failing one; user errors are UserError.
#pragma once
#include <string>

namespace heddle {

// Prints "internal error: ..." with the place and aborts. (tests/support/failing_check.cpp fails a test instead.)
[[noreturn]] void check_failed(const char* file, int line, const char* condition, const std::string& message);

}  // namespace heddle

// The file's name alone: no folder of the machine that builds belongs into the program.
#define HEDDLE_CHECK(condition, message)                                                    \
  do {                                                                                      \
    if (!(condition)) ::heddle::check_failed(__FILE_NAME__, __LINE__, #condition, message); \
  } while (false)
