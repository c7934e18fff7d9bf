// Data paths written in a model file: relative, and never outside the data folder.
//
//   resolve(root = "models", "train-images.gz") -> "models/train-images.gz"
//   resolve(root, "../secret"), "/etc/passwd", "http://x", a link that leads out -> UserError at the model's key
#pragma once
#include <filesystem>
#include <string>

#include "ir/diagnostic.h"

namespace heddle::runtime::data {

// A regular file under `root`, as a path to open. `where` is the place in the model file that names it.
std::filesystem::path resolve(const std::filesystem::path& root, const std::string& name, const Location& where);

// A folder under `root`, or `root` itself.
std::filesystem::path resolve_folder(const std::filesystem::path& root, const std::string& name, const Location& where);

}  // namespace heddle::runtime::data
