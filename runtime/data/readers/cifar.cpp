// The binary version of CIFAR-10 and CIFAR-100 (Krizhevsky 2009, cs.toronto.edu/~kriz/cifar.html):
// records of one label, or a coarse and a fine one, and 32 x 32 pixels, first all red, then all
// green, then all blue.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "runtime/data/mapping.h"
#include "runtime/data/path.h"
#include "runtime/data/table.h"

namespace heddle::runtime::data {
namespace {

constexpr int64_t kSide = 32, kChannels = 3, kPlane = kSide * kSide, kPicture = kPlane * kChannels;
const std::vector<int64_t> kRows = {kSide, kSide, kChannels}, kPlanes = {kChannels, kSide, kSide};

struct Label {
  int64_t at = 0, classes = 10;  // where in the record
};

bool hundred(const ReaderRequest& request) { return request.text("kind") == "cifar100"; }
int64_t labels(const ReaderRequest& request) { return hundred(request) ? 2 : 1; }
int64_t record_bytes(const ReaderRequest& request) { return labels(request) + kPicture; }

// The part of a record that an input holds: as its key says, or by the input's shape where its key names the files.
std::string part_of(const ReaderRequest& request, const ColumnRequest& column) {
  if (request.find("files") != nullptr) return column.source();
  if (column.dims == kRows || column.dims == kPlanes) return "image";
  if (!hundred(request)) return "label";
  throw UserError(column.where, fmt::format("cifar100 has two labels: which of them is input '{}'?", column.input),
                  R"(name the files in "files", and give the input "coarse" or "fine")");
}

Label label_of(const ReaderRequest& request, const ColumnRequest& column) {
  const std::string word = part_of(request, column);
  if (hundred(request) && word == "coarse") return {.at = 0, .classes = 20};
  if (hundred(request) && word == "fine") return {.at = 1, .classes = 100};
  if (!hundred(request) && word == "label") return {.at = 0, .classes = 10};
  throw UserError(column.where, fmt::format("{} holds \"image\" and {}, not \"{}\"", request.text("kind"),
                                            hundred(request) ? "\"coarse\", \"fine\"" : "\"label\"", word));
}

struct Files {
  std::vector<std::string> names;
  std::vector<Mapping> parts;  // likewise
  int64_t rows = 0;
};

// The names of the files: those in `files`, or those in the inputs' keys.
std::vector<std::string> names(const ReaderRequest& request, const std::filesystem::path& root) {
  std::vector<std::string> patterns;
  if (request.find("files") != nullptr) {
    patterns = request.texts("files");
  } else {
    patterns = {request.columns.at(0).source()};
    for (const ColumnRequest& column : request.columns)
      if (column.source() != patterns[0])
        throw UserError(column.where,
                        fmt::format("'{}' for input '{}', '{}' for input '{}': a record holds both, so they have the "
                                    "same files",
                                    patterns[0], request.columns[0].input, column.source(), column.input),
                        R"(or name the files in "files", and what an input holds in its key: "image" or "label")");
  }
  std::vector<std::string> found;
  for (const std::string& pattern : patterns)
    for (std::string& name : matching(root, pattern, request.place("files"))) found.push_back(std::move(name));
  return found;
}

Files open(const ReaderRequest& request, const std::filesystem::path& root) {
  Files files;
  const Location where = request.place("files");
  for (const std::string& name : names(request, root)) {
    const std::filesystem::path path = resolve(root, name, where);
    const auto size = static_cast<int64_t>(std::filesystem::file_size(path)), record = record_bytes(request);
    if (size == 0 || size % record != 0)
      throw UserError(where,
                      fmt::format("{}: {} bytes are no whole number of records of {} bytes", name, size, record));
    files.names.push_back(name);
    files.parts.emplace_back(path, name, where, 0, size);
    files.rows += size / record;
  }
  return files;
}

// The column's type and dims, checked before rows are read.
Column empty_column(const ReaderRequest& request, const ColumnRequest& asked) {
  Column column{.input = asked.input, .type = ElementType::u8, .dims = {}};
  if (part_of(request, asked) == "image") {
    column.dims = asked.dims == kPlanes ? kPlanes : kRows;
  } else {
    label_of(request, asked);
  }
  return column;
}

// Copies a picture. Stored colour planes stay planes where the model's images have channels first.
void copy_picture(const std::byte* from, bool planes, std::byte* to) {
  if (planes) {
    std::copy_n(from, kPicture, to);
    return;
  }
  for (int64_t i = 0; i < kPlane; ++i)
    for (int64_t c = 0; c < kChannels; ++c) to[i * kChannels + c] = from[c * kPlane + i];
}

void copy_label(const ReaderRequest& request, const ColumnRequest& asked, const std::byte* record,
                const std::string& file, size_t number, std::byte* to) {
  const Label label = label_of(request, asked);
  *to = record[label.at];
  if (std::to_integer<int64_t>(*to) >= label.classes)
    throw UserError(
        request.place("files"),
        fmt::format("{}: record {} has the {} {}, expected 0 ... {}: is it {}?", file, number, part_of(request, asked),
                    std::to_integer<int>(*to), label.classes - 1, request.text("kind")));
}

void fill(const ReaderRequest& request, const Files& files, size_t index, Column& column) {
  const ColumnRequest& asked = request.columns[index];
  const bool picture = part_of(request, asked) == "image";
  std::byte* to = make_room(column, files.rows, request.resident);
  const auto size = static_cast<size_t>(record_bytes(request));
  for (size_t i = 0; i < files.parts.size(); ++i)
    for (size_t at = 0; at < files.parts[i].bytes().size(); at += size) {
      const std::byte* record = files.parts[i].bytes().data() + at;
      if (picture) {
        copy_picture(record + labels(request), column.dims == kPlanes, to);
      } else {
        copy_label(request, asked, record, files.names[i], at / size, to);
      }
      to += column.row_bytes();
    }
}

TableHeader read_header(const ReaderRequest& request, const std::filesystem::path& root) {
  for (const ColumnRequest& column : request.columns) empty_column(request, column);
  return {.rows = open(request, root).rows, .types = std::vector<ElementType>(request.columns.size(), ElementType::u8)};
}

Table read_rows(const ReaderRequest& request, const std::filesystem::path& root) {
  const Files files = open(request, root);
  Table table{.rows = files.rows, .columns = {}};
  for (size_t i = 0; i < request.columns.size(); ++i)
    fill(request, files, i, table.columns.emplace_back(empty_column(request, request.columns[i])));
  return table;
}

const RegisterReader cifar({
    .name = "cifar",
    .doc = "CIFAR's binary files; an input is \"image\" or \"label\", of cifar100 \"coarse\" or \"fine\", or names the "
           "files",
    .keys = {{.name = "files",
              .type = KeyType::path,
              .count = Count::several,
              .doc = "one or a list, in this order; * stands for any part of a name"},
             {.name = "kind",
              .type = KeyType::text,
              .doc = "which of the two",
              .fallback = std::string("cifar10"),
              .words = {"cifar10", "cifar100"}}},
    .header = read_header,
    .read = read_rows,
});

}  // namespace
}  // namespace heddle::runtime::data
