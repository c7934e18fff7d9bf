#include "runtime/cuda/cubin_info.h"

#include <algorithm>
#include <charconv>

namespace heddle::runtime {
namespace {

// The number that stands directly before `unit` in `line`, 0 when the unit is not there.
int64_t number_before(std::string_view line, std::string_view unit) {
  const size_t at = line.find(unit);
  if (at == std::string_view::npos) return 0;
  size_t begin = at;
  while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9') --begin;
  int64_t value = 0;
  std::from_chars(line.data() + begin, line.data() + at, value);
  return value;
}

}  // namespace

std::vector<KernelResources> parse_resources(std::string_view log) {
  constexpr std::string_view kEntry = "Compiling entry function '", kFunction = "Function properties for ";
  std::vector<KernelResources> list;
  bool entry = false;  // the properties that follow are the entry's, not those of a function it calls
  while (!log.empty()) {
    const size_t end = std::min(log.find('\n'), log.size());
    const std::string_view line = log.substr(0, end);
    log.remove_prefix(std::min(end + 1, log.size()));
    if (const size_t at = line.find(kEntry); at != std::string_view::npos) {
      const std::string_view rest = line.substr(at + kEntry.size());
      list.push_back({std::string(rest.substr(0, rest.find('\''))), 0, 0, 0, 0});
    } else if (const size_t of = line.find(kFunction); of != std::string_view::npos) {
      entry = !list.empty() && line.substr(of + kFunction.size()) == list.back().name;
    } else if (!list.empty() && line.find("bytes spill stores") != std::string_view::npos) {
      // A called function spills into the same local memory, so its bytes count for its kernel.
      list.back().spill_bytes += number_before(line, " bytes spill stores") + number_before(line, " bytes spill loads");
      if (entry) list.back().stack_bytes = number_before(line, " bytes stack frame");
    } else if (!list.empty() && line.find(" registers") != std::string_view::npos) {
      list.back().registers = number_before(line, " registers");
      list.back().shared_bytes = number_before(line, " bytes smem");
    }
  }
  return list;
}

}  // namespace heddle::runtime
