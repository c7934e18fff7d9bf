#include "ir/check.h"

#include <cstdio>
#include <cstdlib>

namespace heddle {

void check_failed(const char* file, int line, const char* condition, const std::string& message) {
  std::fprintf(stderr, "internal error: %s\n  %s does not hold at %s:%d; please report this\n", message.c_str(),
               condition, file, line);
  std::abort();
}

}  // namespace heddle
