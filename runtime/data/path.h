// Data paths written in a model file: relative, and never outside the data folder.
//
//   resolve(root = "models", "train-images.gz") -> "models/train-images.gz"
//   resolve(root, "../secret"), "/etc/passwd", "http://x", a link that leads out -> UserError at the model's key
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "ir/diagnostic.h"

namespace heddle::runtime::data {

// The file, or the folder that is to hold it, is not there: all that is wrong may be where it was looked for.
struct AbsentFile : UserError {
  using UserError::UserError;
};

// A regular file under `root`, as a path to open. `where` is the place in the model file that names it.
std::filesystem::path resolve(const std::filesystem::path& root, const std::string& name, const Location& where);

// The names that a pattern stands for, sorted by their bytes: * in the name of a file is any part
// of it. Itself where it has none.
//
//   matching(root, "data_batch_*.bin") -> "data_batch_1.bin", "data_batch_2.bin" ...
std::vector<std::string> matching(const std::filesystem::path& root, const std::string& pattern, const Location& where);

// A folder under `root`, or `root` itself.
std::filesystem::path resolve_folder(const std::filesystem::path& root, const std::string& name, const Location& where);

}  // namespace heddle::runtime::data
