#include "runtime/data/path.h"

#include <fmt/format.h>

#include <algorithm>

namespace heddle::runtime::data {
namespace {

namespace fs = std::filesystem;

void check_spelling(const std::string& name, const Location& where) {
  const auto fail = [&](const std::string& message) {
    throw UserError(where, message, "name the file relative to the model's folder, or to --data DIR");
  };
  if (name.empty()) fail("the name of a data file is empty");
  if (name.size() > 4096) fail("the name of a data file is longer than 4096 bytes");
  if (std::any_of(name.begin(), name.end(), [](char c) { return static_cast<unsigned char>(c) < 32 || c == 127; }))
    fail("the name of a data file holds a control character");
  if (name.find("://") != std::string::npos) fail(fmt::format("'{}' is a URL; data files are local", name));
  if (fs::path(name).is_absolute()) fail(fmt::format("'{}' is an absolute path", name));
  for (const fs::path& part : fs::path(name))
    if (part == "..") fail(fmt::format("'{}' leads outside the data folder", name));
}

bool inside(const fs::path& root, const fs::path& file) {
  const auto [end, rest] = std::mismatch(root.begin(), root.end(), file.begin(), file.end());
  return end == root.end() && rest != file.end();
}

// What the name leads to, which lies under `root` or is it.
fs::path find(const fs::path& root, const std::string& name, const Location& where) {
  check_spelling(name, where);
  std::error_code error;
  const fs::path home = fs::canonical(root.empty() ? fs::path(".") : root, error);
  if (error) throw UserError(where, fmt::format("data folder '{}': {}", root.string(), error.message()));
  fs::path file = fs::canonical(home / name, error);
  if (error) {
    throw UserError(where,
                    fmt::format("{}: {} (looked in '{}')", name, error.message(), root.empty() ? "." : root.string()),
                    "pass the folder that holds it with --data DIR");
  }
  if (file != home && !inside(home, file))
    throw UserError(where, fmt::format("'{}' is a link that leads outside the data folder", name));
  return file;
}

}  // namespace

fs::path resolve(const fs::path& root, const std::string& name, const Location& where) {
  fs::path file = find(root, name, where);
  std::error_code error;
  if (!fs::is_regular_file(file, error)) throw UserError(where, fmt::format("{}: not a regular file", name));
  return file;
}

fs::path resolve_folder(const fs::path& root, const std::string& name, const Location& where) {
  fs::path folder = find(root, name, where);
  std::error_code error;
  if (!fs::is_directory(folder, error)) throw UserError(where, fmt::format("{}: not a folder", name));
  return folder;
}

}  // namespace heddle::runtime::data
