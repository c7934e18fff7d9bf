// Resolves the data paths of a model file. A path must be relative and stay inside the data folder.
//
//   resolve(root = "models", "train-images.gz") -> "models/train-images.gz"
//   resolve(root, "../secret"), "/etc/passwd", "http://x", a link that leads out -> UserError at the model's key
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "ir/diagnostic.h"

namespace heddle::runtime::data {

// The file or its folder does not exist. The cause may be only that Heddle looked in the wrong data folder.
struct AbsentFile : UserError {
  using UserError::UserError;
};

// Returns the path of a regular file under `root`. `where` is the place in the model file that names it.
std::filesystem::path resolve(const std::filesystem::path& root, const std::string& name, const Location& where);

// Returns the names that match a pattern, sorted by their bytes. * in a file's name matches any characters. A pattern
// without * is returned as it is.
//
//   matching(root, "data_batch_*.bin") -> "data_batch_1.bin", "data_batch_2.bin" ...
std::vector<std::string> matching(const std::filesystem::path& root, const std::string& pattern, const Location& where);

// Returns the path of a folder under `root`, or of `root` itself.
std::filesystem::path resolve_folder(const std::filesystem::path& root, const std::string& name, const Location& where);

}  // namespace heddle::runtime::data
