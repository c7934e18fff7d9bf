// Lists the files of a data set that has a folder for each class, as torchvision's ImageFolder does.
//
//   train/cat/7.png, train/dog/1.png -> {classes = {"cat", "dog"}, files = {{"train/cat/7.png", 0}, {"train/dog/1.png", 1}}}
#pragma once
#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/data/table.h"

namespace heddle::runtime::data {

// Which files are rows, and how messages call them. Files with none of the endings in `endings` and `others` are
// skipped.
struct FileKind {
  std::string many;                  // "pictures"
  std::vector<std::string> endings;  // in small letters, with the dot
  std::string endings_text;          // "files end in .png"
  std::vector<std::string> others;   // formats that are not read: such a file is an error, not skipped
  std::string wanted, converted;     // texts of that error: the formats that are read, and how to convert
};

struct ClassFile {
  std::string name;  // relative to the data folder: "train/cat/7.png"
  int64_t label = 0;
};
struct ClassFolder {
  std::vector<std::string> classes;
  std::vector<ClassFile> files;  // class by class
};

// The keys of a reader of such folders: "folder", "classes", and the keys `of_files`.
std::vector<Key> class_folder_keys(const std::vector<Key>& of_files);

// The classes that the reader states ("classes"), or those of the training rows. Empty: neither is known, and every
// folder is a class.
std::vector<std::string> known_classes(const ReaderRequest& request);
// Whether an input whose word is one of `words` holds class numbers that come from the folders found. Then a folder
// without rows must be refused: it would shift the numbers of the classes after it.
bool numbers_what_is_found(const ReaderRequest& request, std::initializer_list<std::string_view> words);

// Lists the request's "folder". Throws UserError.
ClassFolder list_classes(const ReaderRequest& request, const std::filesystem::path& root, const FileKind& kind);

}  // namespace heddle::runtime::data
