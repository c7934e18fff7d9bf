#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <string>

#include "tools/command/commands.h"

namespace heddle::tools {

// Field 22 of /proc/self/stat is the start in clock ticks since boot; the name before it may hold blanks and
// parentheses.
double process_seconds() {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen("/proc/self/stat", "r"), std::fclose);
  char text[1024] = {};
  if (!file || std::fread(text, 1, sizeof text - 1, file.get()) == 0) return 0;
  const std::string stat = text;
  size_t at = stat.rfind(')');
  for (int field = 2; field < 22 && at != std::string::npos; ++field) at = stat.find(' ', at + 1);
  if (at == std::string::npos) return 0;
  struct timespec now {};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  const double started = std::stod(stat.substr(at)) / static_cast<double>(::sysconf(_SC_CLK_TCK));
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec) - started;
}

}  // namespace heddle::tools
