#include "runtime/data/path.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/data/printable.h"

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
    fail(fmt::format("the name of a data file, '{}', holds a control character", printable(name)));
  if (name.find("://") != std::string::npos) fail(fmt::format("'{}' is a URL; data files are local", name));
  if (fs::path(name).is_absolute()) fail(fmt::format("'{}' is an absolute path", name));
  for (const fs::path& part : fs::path(name))
    if (part == "..") fail(fmt::format("'{}' leads outside the data folder", name));
}

// Whether the pattern, in which * is any part, has the name: greedily, each piece at its first
// place, the last one at the end.
bool stands_for(std::string_view pattern, std::string_view name) {
  const size_t first = pattern.find('*'), last = pattern.rfind('*');
  const std::string_view end = pattern.substr(last + 1);
  if (name.size() < first + end.size() || !name.starts_with(pattern.substr(0, first)) || !name.ends_with(end))
    return false;
  name = name.substr(first, name.size() - first - end.size());
  for (size_t at = first + 1; at <= last;) {
    const std::string_view piece = pattern.substr(at, pattern.find('*', at) - at);
    const size_t found = name.find(piece);
    if (found == std::string_view::npos) return false;
    name.remove_prefix(found + piece.size());
    at += piece.size() + 1;
  }
  return true;
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
  if (error) throw AbsentFile(where, fmt::format("data folder '{}': {}", root.string(), error.message()));
  fs::path file = fs::canonical(home / name, error);
  if (error) {
    throw AbsentFile(where,
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

std::vector<std::string> matching(const fs::path& root, const std::string& pattern, const Location& where) {
  if (pattern.find('*') == std::string::npos) return {pattern};
  check_spelling(pattern, where);
  const fs::path folder = fs::path(pattern).parent_path();
  if (folder.string().find('*') != std::string::npos)
    throw UserError(where, fmt::format("'{}': * stands for parts of a file's name, not of a folder's", pattern));
  std::vector<std::string> names;
  std::error_code error;
  const fs::directory_iterator entries(resolve_folder(root, folder.empty() ? "." : folder.string(), where), error);
  if (error) throw UserError(where, fmt::format("{}: {}", pattern, error.message()));
  for (const auto& entry : entries)
    if (stands_for(fs::path(pattern).filename().string(), entry.path().filename().string()))
      names.push_back((folder / entry.path().filename()).string());
  if (names.empty())
    throw AbsentFile(where,
                     fmt::format("no file is called {} (looked in '{}')", pattern, root.empty() ? "." : root.string()),
                     "pass the folder that holds them with --data DIR");
  std::sort(names.begin(), names.end());
  return names;
}

fs::path resolve_folder(const fs::path& root, const std::string& name, const Location& where) {
  fs::path folder = find(root, name, where);
  std::error_code error;
  if (!fs::is_directory(folder, error)) throw UserError(where, fmt::format("{}: not a folder", name));
  return folder;
}

}  // namespace heddle::runtime::data
