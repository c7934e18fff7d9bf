// Files of classes, in the order of their names: mostly in a folder for each class, as torchvision's ImageFolder takes
// them.
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

// Which files are rows, and what messages call them. What is neither a row nor of another such format is passed over.
struct FileKind {
  std::string many;                  // "pictures"
  std::vector<std::string> endings;  // in small letters, with the dot
  std::string endings_text;          // "files end in .png"
  std::vector<std::string> others;   // whoever put one there wants it to be a row
  std::string wanted, converted;     // which formats are read, and what makes them of the others
};

struct ClassFile {
  std::string name;  // from the data's folder: "train/cat/7.png"
  int64_t label = 0;
};
struct ClassFolder {
  std::vector<std::string> classes;
  std::vector<ClassFile> files;  // class by class
};

// Of a reader of such folders: "folder", "classes", and what it says of a file.
std::vector<Key> class_folder_keys(const std::vector<Key>& of_files);

// Those that are stated ("classes"), or those of the training rows; none: all that there are.
std::vector<std::string> known_classes(const ReaderRequest& request);
// Whether an input, whose word is one of these, holds numbers of classes that are found: a class without rows, which
// nobody meant as one, would move the numbers of those behind it.
bool numbers_what_is_found(const ReaderRequest& request, std::initializer_list<std::string_view> words);

// Of the request's "folder". Throws UserError.
ClassFolder list_classes(const ReaderRequest& request, const std::filesystem::path& root, const FileKind& kind);

}  // namespace heddle::runtime::data
