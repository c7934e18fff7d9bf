// The reader `image_folder`: pictures in a folder for each class, as torchvision's ImageFolder reads them. Classes and
// files are sorted by name.
#include <fmt/format.h>

#include <vector>

#include "runtime/data/class_folder.h"
#include "runtime/data/in_parallel.h"
#include "runtime/data/path.h"
#include "runtime/data/picture.h"
#include "runtime/data/picture_keys.h"
#include "runtime/data/table.h"

namespace heddle::runtime::data {
namespace {

namespace fs = std::filesystem;

const FileKind kPictures = {
    .many = "pictures",
    .endings = picture_endings(),
    .endings_text = told_picture_endings(),
    .others = {".ppm", ".pgm", ".heic", ".avif", ".jp2", ".jxl"},
    .wanted = "pictures are PNG, JPEG, BMP, WebP, TIFF or GIF",
    .converted = "ImageMagick's mogrify -format png converts it",
};

PictureSize size_of_picture(const ColumnRequest& column) {
  const std::vector<int64_t>& d = column.dims;
  if (d.size() == 2) return {.height = d[0], .width = d[1], .channels = 1};
  if (d.size() == 3 && (d[2] == 1 || d[2] == 3)) return {.height = d[0], .width = d[1], .channels = d[2]};
  throw UserError(column.where,
                  fmt::format("pictures are [height,width,1] or [height,width,3], input '{}' is not", column.input));
}

Column empty_column(const ColumnRequest& asked) {
  Column column{.input = asked.input, .type = ElementType::i32, .dims = {}};
  if (asked.source() == "label") return column;
  if (asked.source() != "image")
    throw UserError(asked.where, fmt::format("a folder holds \"image\" and \"label\", not \"{}\"", asked.source()));
  size_of_picture(asked);
  column.type = ElementType::u8, column.dims = asked.dims;
  return column;
}

void decode(const ClassFolder& folder, const ColumnRequest& asked, const ReaderRequest& request, const fs::path& root,
            std::byte* to) {
  const PictureSize size = size_of_picture(asked);
  const Resizing resizing = resizing_of(request.settings);
  const Location where = request.place("folder");
  in_parallel(std::ssize(folder.files), [&](int64_t i) {
    const std::string& name = folder.files[static_cast<size_t>(i)].name;
    read_picture(resolve(root, name, where), name, where, size, to + i * size.bytes(), resizing);
  });
}

TableHeader read_header(const ReaderRequest& request, const fs::path& root) {
  TableHeader header;
  resizing_of(request.settings);  // or an error
  for (const ColumnRequest& column : request.columns) header.types.push_back(empty_column(column).type);
  const ClassFolder folder = list_classes(request, root, kPictures);
  header.rows = std::ssize(folder.files);
  header.names_found = request.find("classes") == nullptr;
  for (const ColumnRequest& column : request.columns)
    header.class_names.push_back(column.source() == "label" ? folder.classes : std::vector<std::string>());
  return header;
}

Table read_rows(const ReaderRequest& request, const fs::path& root) {
  const ClassFolder folder = list_classes(request, root, kPictures);
  Table table{.rows = std::ssize(folder.files), .columns = {}};
  for (const ColumnRequest& asked : request.columns) {
    Column& column = table.columns.emplace_back(empty_column(asked));
    std::byte* to = make_room(column, table.rows, request.resident);
    if (asked.source() == "image") {
      decode(folder, asked, request, root, to);
      continue;
    }
    auto* label = reinterpret_cast<int32_t*>(to);
    for (const ClassFile& file : folder.files) *label++ = static_cast<int32_t>(file.label);
  }
  return table;
}

const RegisterReader image_folder({
    .name = "image_folder",
    .doc = "pictures in a folder for each class; an input is \"image\" or \"label\"",
    .keys = class_folder_keys(picture_keys()),
    .header = read_header,
    .read = read_rows,
});

}  // namespace
}  // namespace heddle::runtime::data
