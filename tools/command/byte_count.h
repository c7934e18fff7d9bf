// byte_count: reads an amount of memory of an option, such as "300MiB", in bytes.
#pragma once
#include <cstdint>
#include <string>

namespace heddle::tools {

// "300MiB" -> 314572800. Also takes "1.5 GiB", "64kB", and "8" for 8 GiB. Throws UserError (exit 2), which names the
// option, where the text is not a number of bytes from 1 to 2^50.
int64_t byte_count(const std::string& text, const std::string& option);

}  // namespace heddle::tools
