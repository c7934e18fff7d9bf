#include "runtime/data/folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "runtime/data/printable.h"
#include "runtime/json_text.h"

namespace heddle::runtime::data {
namespace {

namespace fs = std::filesystem;
constexpr size_t kMostFiles = 100'000'000;

}  // namespace

bool is_folder(const fs::path& path, const std::string& title, const Location& where) {
  std::error_code error, unknown;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status) && fs::is_symlink(path, unknown))
    throw UserError(where, fmt::format("{}: a link that leads nowhere", printable(title)), "mend or remove it");
  if (status.type() == fs::file_type::none)
    throw UserError(where, fmt::format("{}: {}", printable(title), error.message()));
  return fs::is_directory(status);
}

std::vector<std::string> names_in(const fs::path& folder, const std::string& name, const Location& where) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string file = it->path().filename().string();
    if (file[0] != '.') names.push_back(file);
    if (names.size() > kMostFiles) throw UserError(where, fmt::format("{}: more than {} files", name, kMostFiles));
  }
  if (error) throw UserError(where, fmt::format("{}: {}", name, error.message()));
  std::ranges::sort(names);
  return names;
}

void require_class_name(const std::string& name, const std::string& folder, const char* what, const Location& where) {
  if (!is_utf8(name))
    throw UserError(where, fmt::format("{}: the name of the {} '{}' is not valid UTF-8", folder, what, printable(name)),
                    "rename it: it is the name of a class");
}

}  // namespace heddle::runtime::data
