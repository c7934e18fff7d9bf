// Lists a data folder: the names in it, sorted by their bytes, and whether a path is a folder.
//
//   names_in(home, "names", where)   -> {"Arabic.txt", "Chinese.txt", ...}, without those that are hidden
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "ir/diagnostic.h"

namespace heddle::runtime::data {

// `title` and `name` stand for the path in messages. All functions throw UserError at `where`.

// Throws at a broken link, since the user meant it to be a file or a folder.
bool is_folder(const std::filesystem::path& path, const std::string& title, const Location& where);
std::vector<std::string> names_in(const std::filesystem::path& folder, const std::string& name, const Location& where);
// Throws where the name is not valid UTF-8. Weights keep class names as JSON, where two invalid names could become the
// same.
void require_class_name(const std::string& name, const std::string& folder, const char* what, const Location& where);

}  // namespace heddle::runtime::data
