// byte_count: what an option says of memory, "300MiB", in bytes.
#pragma once
#include <cstdint>
#include <string>

namespace heddle::tools {

// "300MiB" -> 314572800, "1.5 GiB", "64kB", "8": GiB. Throws UserError (exit 2), which names the option, where
// the text is no number of bytes from 1 to 2^50.
int64_t byte_count(const std::string& text, const std::string& option);

}  // namespace heddle::tools
