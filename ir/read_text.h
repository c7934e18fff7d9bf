// Reads a text file of a user: a regular file, or standard input where the path is "-".
#pragma once
#include <string>

namespace heddle {

// Throws UserError, which calls the file `shown`, when it cannot be read, is a folder, a device or a pipe (which could
// make the caller wait for ever), or is longer than `most` bytes (ExitCode::limit).
std::string read_text(const std::string& path, const std::string& shown, size_t most);

}  // namespace heddle
