// What lies in a data folder: names in the order of their bytes, and which of them are folders.
//
//   names_in(home, "names", where)   -> {"Arabic.txt", "Chinese.txt", ...}, without those that are hidden
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "ir/diagnostic.h"

namespace heddle::runtime::data {

// `title` and `name` stand for the path in messages. All throw UserError at `where`.

// A link that leads nowhere, or to itself, was to be something: it is refused, not passed over.
bool is_folder(const std::filesystem::path& path, const std::string& title, const Location& where);
std::vector<std::string> names_in(const std::filesystem::path& folder, const std::string& name, const Location& where);
// Weights keep names of classes: of two that are not UTF-8 they would make one.
void require_class_name(const std::string& name, const std::string& folder, const char* what, const Location& where);

}  // namespace heddle::runtime::data
