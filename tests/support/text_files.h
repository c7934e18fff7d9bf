// Whole files as texts, for tests that look at what was written.
#pragma once
#include <string>

namespace heddle::testing {

std::string read_text(const std::string& path);  // "" where there is no file
void write_text(const std::string& path, const std::string& text);

}  // namespace heddle::testing
