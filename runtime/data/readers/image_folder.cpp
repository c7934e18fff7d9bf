// Pictures in a folder for each class, as torchvision's ImageFolder reads them: classes and files
// in the order of their names.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <map>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "runtime/data/folder.h"
#include "runtime/data/path.h"
#include "runtime/data/picture.h"
#include "runtime/data/printable.h"
#include "runtime/data/table.h"

namespace heddle::runtime::data {
namespace {

namespace fs = std::filesystem;

struct File {
  std::string name;  // from the data's folder: "train/cat/7.png"
  int64_t label = 0;
};
struct Folder {
  std::vector<std::string> classes;
  std::vector<File> files;  // class by class
};

std::string small_extension(const fs::path& path) {
  std::string end = path.extension().string();
  std::ranges::transform(end, end.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return end;
}

bool is_picture(const fs::path& path) {
  const std::string end = small_extension(path);
  return end == ".png" || end == ".jpg" || end == ".jpeg";
}

// Whoever put it there wants it to be a row; what is no picture at all, such as notes, is passed over.
bool is_other_picture(const fs::path& path) {
  constexpr std::array kOthers = {".gif", ".bmp", ".webp", ".tif", ".tiff", ".ppm", ".pgm", ".heic", ".avif"};
  return std::ranges::count(kOthers, small_extension(path)) > 0;
}

// The classes are folders: stated, those of the training rows, or all that there are.
std::vector<std::string> find_classes(const ReaderRequest& request, const fs::path& home, const Location& where) {
  if (request.find("classes") != nullptr) return request.texts("classes");
  for (const ColumnRequest& column : request.columns)
    if (!column.class_names.empty()) return column.class_names;
  std::vector<std::string> classes;
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

void require_known(const ReaderRequest& request, const Folder& folder, const fs::path& home, const Location& where) {
  for (const std::string& name : names_in(home, request.text("folder"), where))
    if (std::ranges::count(folder.classes, name) == 0 &&
        is_folder(home / name, request.text("folder") + "/" + name, where))
      throw UserError(
          where, fmt::format("{}: the folder '{}' is none of the classes", request.text("folder"), printable(name)),
          did_you_mean(name, folder.classes));
}

// A folder that nobody meant as a class, such as the __MACOSX of an archive, would move the numbers of those behind it.
void require_pictures(const ReaderRequest& request, const Folder& folder, const Location& where) {
  const bool numbered =
      request.find("classes") != nullptr || std::ranges::none_of(request.columns, [](const ColumnRequest& column) {
        return column.source() == "label" && column.class_names.empty();
      });
  if (numbered) return;
  std::vector<bool> filled(folder.classes.size());
  for (const File& file : folder.files) filled[static_cast<size_t>(file.label)] = true;
  for (size_t c = 0; c < filled.size(); ++c)
    if (!filled[c])
      throw UserError(where,
                      fmt::format("{}/{}: no pictures in it, although each folder is a class", request.text("folder"),
                                  printable(folder.classes[c])),
                      "files end in .png, .jpg or .jpeg; \"classes\" names classes without any");
}

Folder list(const ReaderRequest& request, const fs::path& root) {
  const Location where = request.place("folder");
  const fs::path home = resolve_folder(root, request.text("folder"), where);
  Folder folder{.classes = find_classes(request, home, where), .files = {}};
  require_known(request, folder, home, where);
  for (size_t c = 0; c < folder.classes.size(); ++c) {
    const std::string title = request.text("folder") + "/" + folder.classes[c];
    if (!is_folder(home / folder.classes[c], title, where)) continue;  // a split need not have every class
    for (const std::string& name : names_in(resolve_folder(root, title, where), title, where)) {
      if (!is_picture(name) && is_folder(home / folder.classes[c] / name, fmt::format("{}/{}", title, name), where))
        throw UserError(where, fmt::format("{}/{}: a folder inside that of a class", title, printable(name)),
                        "pictures lie in the folder of their class itself");
      if (is_other_picture(name))
        throw UserError(where, fmt::format("{}/{}: pictures are PNG or JPEG", title, printable(name)),
                        "ImageMagick's mogrify -format png converts it");
      if (is_picture(name)) folder.files.push_back({fmt::format("{}/{}", title, name), static_cast<int64_t>(c)});
    }
  }
  if (folder.files.empty())
    throw UserError(where, fmt::format("{}: no pictures in its folders", request.text("folder")),
                    "files end in .png, .jpg or .jpeg");
  require_pictures(request, folder, where);
  return folder;
}

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

// Any number of threads gives the same rows; of several damaged pictures the first is told.
void decode(const Folder& folder, const ColumnRequest& asked, const ReaderRequest& request, const fs::path& root,
            std::byte* to) {
  const PictureSize size = size_of_picture(asked);
  const Location where = request.place("folder");
  std::atomic<size_t> next = 0;
  std::mutex mutex;
  std::map<size_t, std::exception_ptr> faults;
  const auto work = [&] {
    for (size_t i = next++; i < folder.files.size(); i = next++) {
      try {
        const std::string& name = folder.files[i].name;
        read_picture(resolve(root, name, where), name, where, size, to + static_cast<int64_t>(i) * size.bytes());
      } catch (...) {
        const std::lock_guard lock(mutex);
        faults.emplace(i, std::current_exception());
        next = folder.files.size();
      }
    }
  };
  std::vector<std::jthread> workers;
  const unsigned threads = std::clamp(std::thread::hardware_concurrency(), 1U, 16U);
  try {
    for (unsigned t = 1; t < threads; ++t) workers.emplace_back(work);
  } catch (const std::system_error&) {  // fewer, where the system gives no more
  }
  work();
  workers.clear();  // joins
  if (!faults.empty()) std::rethrow_exception(faults.begin()->second);
}

TableHeader read_header(const ReaderRequest& request, const fs::path& root) {
  TableHeader header;
  for (const ColumnRequest& column : request.columns) header.types.push_back(empty_column(column).type);
  const Folder folder = list(request, root);
  header.rows = std::ssize(folder.files);
  header.names_found = request.find("classes") == nullptr;
  for (const ColumnRequest& column : request.columns)
    header.class_names.push_back(column.source() == "label" ? folder.classes : std::vector<std::string>());
  return header;
}

Table read_rows(const ReaderRequest& request, const fs::path& root) {
  const Folder folder = list(request, root);
  Table table{.rows = std::ssize(folder.files), .columns = {}};
  for (const ColumnRequest& asked : request.columns) {
    Column& column = table.columns.emplace_back(empty_column(asked));
    std::byte* to = make_room(column, table.rows, request.resident);
    if (asked.source() == "image") {
      decode(folder, asked, request, root, to);
      continue;
    }
    auto* label = reinterpret_cast<int32_t*>(to);
    for (const File& file : folder.files) *label++ = static_cast<int32_t>(file.label);
  }
  return table;
}

const RegisterReader image_folder({
    .name = "image_folder",
    .doc = "pictures in a folder for each class; an input is \"image\" or \"label\"",
    .keys = {{.name = "folder", .type = KeyType::path, .doc = "that holds the classes' folders", .required = true},
             {.name = "classes",
              .type = KeyType::text,
              .count = Count::several,
              .doc = "their folders' names, in the order of their numbers"}},
    .header = read_header,
    .read = read_rows,
});

}  // namespace
}  // namespace heddle::runtime::data
