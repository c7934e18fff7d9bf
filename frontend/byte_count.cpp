#include "frontend/byte_count.h"

#include <array>
#include <charconv>
#include <utility>

namespace heddle::frontend {
namespace {

constexpr double kMost = 1125899906842624.0;  // 2^50

constexpr std::array<std::pair<std::string_view, double>, 9> kUnits = {{{"B", 1},
                                                                        {"KiB", 1024},
                                                                        {"MiB", 1048576},
                                                                        {"GiB", 1073741824},
                                                                        {"TiB", 1099511627776},
                                                                        {"kB", 1e3},
                                                                        {"MB", 1e6},
                                                                        {"GB", 1e9},
                                                                        {"TB", 1e12}}};

// The bytes of a unit; 0 if it is no unit of memory.
double bytes_in(std::string_view unit) {
  for (const auto& [name, bytes] : kUnits)
    if (unit == name) return bytes;
  return 0;
}

}  // namespace

std::optional<int64_t> bytes_of(std::string_view text, std::string_view unit) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  std::string_view given = text.substr(static_cast<size_t>(end - text.data()));
  while (given.starts_with(' ')) given.remove_prefix(1);
  const double bytes = number * bytes_in(given.empty() ? unit : given);
  if (error != std::errc() || !(bytes >= 1 && bytes <= kMost)) return std::nullopt;
  return static_cast<int64_t>(bytes);
}

}  // namespace heddle::frontend
