// bytes_of: what a text says of memory.
//
//   "300MiB"  ->  314572800        "8 GB"  ->  8000000000
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace heddle::frontend {

// A number and its unit, B to TiB; a number alone is in `unit`. Nothing where it is no number of bytes from 1 to 2^50.
std::optional<int64_t> bytes_of(std::string_view text, std::string_view unit = "B");

}  // namespace heddle::frontend
