// HEDDLE_CHECK asserts an invariant of the compiler. A failure is a bug of Heddle; errors of users are UserError.
#pragma once
#include <string>

namespace heddle {

// Prints "internal error: ..." with the place and aborts. (tests/support/failing_check.cpp fails a test instead.)
[[noreturn]] void check_failed(const char* file, int line, const char* condition, const std::string& message);

}  // namespace heddle

// __FILE_NAME__ has no folder, so the program does not contain paths of the machine that builds it.
#define HEDDLE_CHECK(condition, message)                                                    \
  do {                                                                                      \
    if (!(condition)) ::heddle::check_failed(__FILE_NAME__, __LINE__, #condition, message); \
  } while (false)
