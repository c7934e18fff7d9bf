#include "runtime/process/process_memory.h"

#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

namespace heddle::runtime {
namespace {

// A file that holds a number: not "max", not absent.
void take_limit(const char* path, int64_t& least) {
  std::ifstream file(path);
  int64_t limit = 0;
  if (file >> limit && limit > 0) least = std::min(least, limit);
}

}  // namespace

int64_t peak_resident_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) return std::stoll(line.substr(line.find(':') + 1)) * 1024;
  return 0;
}

int64_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  int64_t all = 0, resident = 0;
  return statm >> all >> resident ? resident * ::sysconf(_SC_PAGESIZE) : 0;
}

int64_t machine_memory_bytes() {
  int64_t least = std::numeric_limits<int64_t>::max();
  struct sysinfo info {};
  if (::sysinfo(&info) == 0)
    least = static_cast<int64_t>(info.totalram + info.totalswap) * static_cast<int64_t>(info.mem_unit);
  // As a container sees its own group, of either version.
  take_limit("/sys/fs/cgroup/memory.max", least);
  take_limit("/sys/fs/cgroup/memory/memory.limit_in_bytes", least);
  return least;
}

}  // namespace heddle::runtime
