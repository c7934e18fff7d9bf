// The columns of a table that name files of pictures, and of masks beside them.
//
//   PictureColumns pictures(request);              "pictures": {"photo": "image", "outline": "mask"}
//   pictures.read(places, root, where, table, fail)   -> u8[h,w,3] of each photo, u8[h,w] of each outline
//
// All are resized as the reader's "resize" says: pictures by its filter, masks to the nearest pixel of the same window.
#pragma once
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "runtime/data/file_place.h"
#include "runtime/data/picture_resize.h"
#include "runtime/data/table.h"

namespace heddle::runtime::data {

class PictureColumns {
 public:
  // Throws UserError where an input is no picture, or no mask.
  explicit PictureColumns(const ReaderRequest& request);
  bool is_picture(size_t column) const { return !words_.at(column).empty(); }

  // The rows of a table, by several threads. `fail` tells of a fault, and throws.
  using Fail = std::function<void(const FilePlace&, const UserError&)>;
  void read(const std::vector<FilePlace>& places, const std::filesystem::path& root, const Location& where,
            Table& table, const Fail& fail) const;

 private:
  void store(const FilePlace& place, const std::filesystem::path& root, const Location& where, std::byte* to) const;

  std::vector<std::string> words_;  // of each of the request's columns: "image", "mask", or ""
  std::vector<PictureSize> sizes_;
  Resizing resizing_;
};

// What the setting "pictures" of a reader says of an input: "image", "mask", or "".
std::string picture_word(const std::vector<ReaderSetting>& settings, const std::string& input);
Key picture_words_key();

}  // namespace heddle::runtime::data
