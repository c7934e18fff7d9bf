#include "runtime/data/picture_columns.h"

#include <fmt/format.h>

#include "runtime/data/in_parallel.h"
#include "runtime/data/mask_file.h"
#include "runtime/data/path.h"
#include "runtime/data/picture.h"
#include "runtime/data/picture_keys.h"

namespace heddle::runtime::data {
namespace {

void require_alone(const ReaderRequest& request, const std::string& input) {
  for (const char* other : {"text", "classes", "sound"})
    if (const ReaderSetting* s = request.find(other); s != nullptr && std::get<ClassNames>(s->value).contains(input))
      throw UserError(s->where, fmt::format("input '{}' is of pictures, and is in \"{}\", too", input, other),
                      "take it out of one of them");
}

PictureSize size_of(const ColumnRequest& column, bool mask) {
  const std::vector<int64_t>& d = column.dims;
  if (d.size() == 2) return {.height = d[0], .width = d[1], .channels = 1};
  if (d.size() == 3 && (d[2] == 1 || (d[2] == 3 && !mask))) return {.height = d[0], .width = d[1], .channels = d[2]};
  throw UserError(column.where,
                  mask ? fmt::format("masks are [height,width] or [height,width,1], input '{}' is not", column.input)
                       : fmt::format("pictures are [height,width], [height,width,1] or [height,width,3], input '{}' is not",
                                     column.input));
}

}  // namespace

PictureColumns::PictureColumns(const ReaderRequest& request) : resizing_(resizing_of(request.settings)) {
  bool any = false;
  for (const ColumnRequest& column : request.columns) {
    words_.push_back(picture_word(request.settings, column.input));
    const bool picture = !words_.back().empty();
    if (picture) require_alone(request, column.input), any = true;
    sizes_.push_back(picture ? size_of(column, words_.back() == "mask") : PictureSize{});
  }
  if (!any && resizing_.how != ResizeKind::none)
    throw UserError(request.place("resize"), "'resize' is of pictures, and no input is one",
                    "\"pictures\": {\"INPUT\": \"image\"} says whose values are paths of pictures");
}

void PictureColumns::store(const FilePlace& place, const std::filesystem::path& root, const Location& where,
                           std::byte* to) const {
  const PictureSize& size = sizes_[place.column];
  const std::filesystem::path file = resolve(root, place.name, where);
  if (words_[place.column] == "mask")
    read_mask(file, place.name, where, size.height, size.width, resizing_.how, to);
  else
    read_picture(file, place.name, where, size, to, resizing_);
}

void PictureColumns::read(const std::vector<FilePlace>& places, const std::filesystem::path& root,
                          const Location& where, Table& table, const Fail& fail) const {
  std::vector<std::byte*> begin;
  for (Column& column : table.columns) begin.push_back(column.writable());
  in_parallel(std::ssize(places), [&](int64_t i) {
    const FilePlace& place = places[static_cast<size_t>(i)];
    try {
      store(place, root, where, begin[place.column] + place.row * table.columns[place.column].row_bytes());
    } catch (const UserError& error) {
      fail(place, error);
      throw;
    }
  });
}

std::string picture_word(const std::vector<ReaderSetting>& settings, const std::string& input) {
  const ReaderSetting* setting = find_setting(settings, "pictures");
  if (setting == nullptr) return {};
  const auto& all = std::get<ClassNames>(setting->value);
  const auto word = all.find(input);
  return word == all.end() ? "" : word->second.at(0);
}

Key picture_words_key() {
  return {.name = "pictures",
          .type = KeyType::text,
          .count = Count::by_name,
          .doc = "for inputs whose values are paths of pictures, or of masks, whose pixels are classes",
          .words = {"image", "mask"}};
}

}  // namespace heddle::runtime::data
