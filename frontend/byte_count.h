// bytes_of: parses an amount of memory.
//
//   "300MiB"  ->  314572800        "8 GB"  ->  8000000000
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace heddle::frontend {

// The text is a number, with a unit from B to TB or TiB; without one, the number is in `unit`. Returns nullopt if the
// text is malformed or the result is not between 1 and 2^50 bytes.
std::optional<int64_t> bytes_of(std::string_view text, std::string_view unit = "B");

}  // namespace heddle::frontend
