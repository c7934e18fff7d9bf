#include "tools/command/byte_count.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <utility>

#include "ir/diagnostic.h"

namespace heddle::tools {
namespace {

constexpr double kMost = 1125899906842624.0;  // 2^50

constexpr std::array<std::pair<const char*, double>, 10> kUnits = {{{"", 1073741824},
                                                                    {"B", 1},
                                                                    {"KiB", 1024},
                                                                    {"MiB", 1048576},
                                                                    {"GiB", 1073741824},
                                                                    {"TiB", 1099511627776},
                                                                    {"kB", 1e3},
                                                                    {"MB", 1e6},
                                                                    {"GB", 1e9},
                                                                    {"TB", 1e12}}};

// 0: no unit of memory.
double bytes_in(const std::string& unit) {
  for (const auto& [name, bytes] : kUnits)
    if (unit == name) return bytes;
  return 0;
}

}  // namespace

int64_t byte_count(const std::string& text, const std::string& option) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  std::string unit = text.substr(static_cast<size_t>(end - text.data()));
  while (unit.starts_with(' ')) unit.erase(0, 1);
  const double bytes = number * bytes_in(unit);
  if (error != std::errc() || !(bytes >= 1 && bytes <= kMost))
    throw UserError(ExitCode::usage, fmt::format("{}: '{}' is no number of bytes from 1 to 2^50", option, text),
                    fmt::format("for example {0}=300MiB; a number alone counts GiB", option));
  return static_cast<int64_t>(bytes);
}

}  // namespace heddle::tools
