#include "runtime/data/class_folder.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/data/folder.h"
#include "runtime/data/path.h"
#include "runtime/data/printable.h"

namespace heddle::runtime::data {
namespace {

namespace fs = std::filesystem;

std::string small_extension(const fs::path& path) {
  std::string end = path.extension().string();
  std::ranges::transform(end, end.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return end;
}

bool ends_in(const fs::path& path, const std::vector<std::string>& endings) {
  return std::ranges::count(endings, small_extension(path)) > 0;
}

// The classes: those that the reader states, those of the training rows, or all folders.
std::vector<std::string> find_classes(const ReaderRequest& request, const fs::path& home, const Location& where) {
  std::vector<std::string> classes = known_classes(request);
  if (!classes.empty()) return classes;
  for (const std::string& name : names_in(home, request.text("folder"), where)) {
    if (!is_folder(home / name, request.text("folder") + "/" + name, where)) continue;
    require_class_name(name, request.text("folder"), "folder", where);
    classes.push_back(name);
  }
  if (classes.empty())
    throw UserError(where, fmt::format("{}: no folders in it", request.text("folder")),
                    "each class has a folder of its own");
  return classes;
}

void require_known(const ReaderRequest& request, const ClassFolder& folder, const fs::path& home,
                   const Location& where) {
  for (const std::string& name : names_in(home, request.text("folder"), where))
    if (std::ranges::count(folder.classes, name) == 0 &&
        is_folder(home / name, request.text("folder") + "/" + name, where))
      throw UserError(
          where, fmt::format("{}: the folder '{}' is none of the classes", request.text("folder"), printable(name)),
          did_you_mean(name, folder.classes));
}

// Throws at a folder without files, such as __MACOSX of an archive: it would count as a class.
void require_files(const ReaderRequest& request, const ClassFolder& folder, const FileKind& kind,
                   const Location& where) {
  if (!numbers_what_is_found(request, {"label"})) return;
  std::vector<bool> filled(folder.classes.size());
  for (const ClassFile& file : folder.files) filled[static_cast<size_t>(file.label)] = true;
  for (size_t c = 0; c < filled.size(); ++c)
    if (!filled[c])
      throw UserError(where,
                      fmt::format("{}/{}: no {} in it, although each folder is a class", request.text("folder"),
                                  printable(folder.classes[c]), kind.many),
                      kind.endings_text + "; \"classes\" names classes without any");
}

}  // namespace

std::vector<Key> class_folder_keys(const std::vector<Key>& of_files) {
  std::vector<Key> keys = {
      {.name = "folder", .type = KeyType::path, .doc = "that holds the classes' folders", .required = true},
      {.name = "classes",
       .type = KeyType::text,
       .count = Count::several,
       .doc = "their folders' names, in the order of their numbers"}};
  keys.insert(keys.end(), of_files.begin(), of_files.end());
  return keys;
}

std::vector<std::string> known_classes(const ReaderRequest& request) {
  if (request.find("classes") != nullptr) return request.texts("classes");
  for (const ColumnRequest& column : request.columns)
    if (!column.class_names.empty()) return column.class_names;
  return {};
}

bool numbers_what_is_found(const ReaderRequest& request, std::initializer_list<std::string_view> words) {
  return request.find("classes") == nullptr && std::ranges::any_of(request.columns, [&](const ColumnRequest& column) {
           return std::ranges::count(words, column.source()) > 0 && column.class_names.empty();
         });
}

ClassFolder list_classes(const ReaderRequest& request, const fs::path& root, const FileKind& kind) {
  const Location where = request.place("folder");
  const fs::path home = resolve_folder(root, request.text("folder"), where);
  ClassFolder folder{.classes = find_classes(request, home, where), .files = {}};
  require_known(request, folder, home, where);
  for (size_t c = 0; c < folder.classes.size(); ++c) {
    const std::string title = request.text("folder") + "/" + folder.classes[c];
    if (!is_folder(home / folder.classes[c], title, where)) continue;  // a split need not have every class
    for (const std::string& name : names_in(resolve_folder(root, title, where), title, where)) {
      if (!ends_in(name, kind.endings) &&
          is_folder(home / folder.classes[c] / name, fmt::format("{}/{}", title, name), where))
        throw UserError(where, fmt::format("{}/{}: a folder inside that of a class", title, printable(name)),
                        kind.many + " lie in the folder of their class itself");
      if (ends_in(name, kind.others))
        throw UserError(where, fmt::format("{}/{}: {}", title, printable(name), kind.wanted), kind.converted);
      if (ends_in(name, kind.endings))
        folder.files.push_back({fmt::format("{}/{}", title, name), static_cast<int64_t>(c)});
    }
  }
  if (folder.files.empty())
    throw UserError(where, fmt::format("{}: no {} in its folders", request.text("folder"), kind.many),
                    kind.endings_text);
  require_files(request, folder, kind, where);
  return folder;
}

}  // namespace heddle::runtime::data
