#include "tools/command/byte_count.h"

#include <fmt/format.h>

#include "frontend/byte_count.h"
#include "ir/diagnostic.h"

namespace heddle::tools {

int64_t byte_count(const std::string& text, const std::string& option) {
  if (const std::optional<int64_t> bytes = frontend::bytes_of(text, "GiB")) return *bytes;
  throw UserError(ExitCode::usage, fmt::format("{}: '{}' is no number of bytes from 1 to 2^50", option, text),
                  fmt::format("for example {0}=300MiB; a number alone counts GiB", option));
}

}  // namespace heddle::tools
