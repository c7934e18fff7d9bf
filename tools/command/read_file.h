// read_file: reads a whole text file for parsing; "-" is standard input.
#pragma once
#include <string>

#include "ir/diagnostic.h"

namespace heddle::tools {

// Throws UserError (exit 1) when it cannot be read or is larger than `max_bytes`.
SourceFile read_file(const std::string& path, size_t max_bytes = size_t{64} << 20);

}  // namespace heddle::tools
