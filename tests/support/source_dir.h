// Where the sources lie, for tests that read models and references.
#pragma once
#include <filesystem>

namespace heddle::testing {

std::filesystem::path source_dir();

}  // namespace heddle::testing
