// read_text: reads a user's text file. The path "-" means standard input.
#pragma once
#include <string>

namespace heddle {

// The file's text. Throws UserError if the file cannot be read, if it is a folder, a device or a pipe (which could
// block forever), or if it is longer than `most` bytes (ExitCode::limit). Messages call the file `shown`.
std::string read_text(const std::string& path, const std::string& shown, size_t most);

}  // namespace heddle
