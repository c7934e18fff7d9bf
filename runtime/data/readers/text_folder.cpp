// Texts in a folder: a file of each class, or a folder of files; a text is a line, or a whole file.
//
//   names/Arabic.txt, names/Czech.txt, ...: each line is a row, whose label is its file's number
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "ir/check.h"
#include "runtime/data/class_folder.h"
#include "runtime/data/folder.h"
#include "runtime/data/input_file.h"
#include "runtime/data/path.h"
#include "runtime/data/printable.h"
#include "runtime/data/text_columns.h"
#include "runtime/data/text_file.h"

namespace heddle::runtime::data {
namespace {

namespace fs = std::filesystem;

bool is_label(std::string_view word) { return word == "file" || word == "folder"; }

// "Arabic" of "Arabic.txt" and "Arabic.txt.gz".
std::string class_of_file(const std::string& name) {
  fs::path path = name;
  if (path.extension() == ".gz") path = path.stem();
  return path.stem().string();
}

// Whether the file is documentation beside the data, such as a README.
bool is_remark(const std::string& name) {
  constexpr std::array kRemarks = {"README", "LICENSE", "LICENCE",  "COPYING", "NOTICE",
                                   "SOURCE", "SOURCES", "CITATION", "AUTHORS"};
  return std::ranges::count(kRemarks, class_of_file(name)) > 0;
}

// The word of each input: the part of a text that it holds; "" for the class.
std::vector<std::string> text_words_of(const ReaderRequest& request) {
  std::vector<std::string> words;
  for (const ColumnRequest& column : request.columns) {
    const std::string& word = column.source();
    if (!text_unit(word) && word != "length" && !is_label(word))
      throw UserError(column.where,
                      fmt::format("a text has \"characters\", \"bytes\", \"tokens\", a \"length\" and the class of "
                                  "its \"file\" or \"folder\", not \"{}\"",
                                  printable(word)));
    words.push_back(is_label(word) ? "" : word);
  }
  return words;
}

class TextFolder {
 public:
  TextFolder(const ReaderRequest& request, const fs::path& root)
      : request_(request),
        root_(root),
        where_(request.place("folder")),
        title_(request.text("folder")),
        texts_(request, text_settings(request), text_words_of(request),
               std::vector<std::string>(request.columns.size(), "text")),
        lines_(request.text("rows") == "lines") {
    folders_ = label_word() == "folder";
    list();
  }

  TableHeader header() {
    TableHeader out;
    out.names_found = request_.find("classes") == nullptr;
    out.rows = first_pass();
    if (out.rows == 0) throw UserError(where_, fmt::format("{}: no text in its files", title_), kNoRowsHelp);
    require_text_room(request_, out.rows);
    for (const ColumnRequest& column : request_.columns)
      out.class_names.push_back(is_label(column.source()) ? folder_.classes : std::vector<std::string>());
    out.types.assign(request_.columns.size(), ElementType::i32);
    texts_.finish(out, root_);
    if (!passed_over_.empty())
      out.notes.push_back(fmt::format("{}: {} {} skipped, not read as text; \"classes\" would name what is read",
                                      title_, fmt::join(passed_over_, ", "), passed_over_.size() == 1 ? "is" : "are"));
    return out;
  }

  Table read() {
    const TableHeader head = header();
    Table table{.rows = head.rows, .columns = {}};
    std::vector<std::byte*> to;
    for (size_t i = 0; i < head.types.size(); ++i) {
      const ColumnRequest& asked = request_.columns[i];
      const auto dims = texts_.is_text(i) ? asked.dims : std::vector<int64_t>();
      to.push_back(add_column(table, {.input = asked.input, .type = head.types[i], .dims = dims}, request_.resident));
    }
    int64_t rows = 0;
    each_text([&](const TextLine& line, const ClassFile& file, const TextFile& from) {
      if (rows++ >= table.rows) changed();
      for (size_t i = 0; i < to.size(); ++i) {
        if (!texts_.is_text(i)) continue;
        texts_.encode(i, line.text, [&](size_t offset, const std::string& message, const std::string& help) {
          fail(line, from, offset, message, help);
        });
      }
      for (size_t i = 0; i < to.size(); ++i) {
        const Column& column = table.columns[i];
        if (is_label(request_.columns[i].source())) {
          store_integer(column.type, file.label, to[i]);
        } else {
          texts_.store(i, column.type, to[i]);
        }
        to[i] += column.row_bytes();
      }
    });
    if (rows != table.rows) changed();
    for (const std::string& note : texts_.notes()) table.notes.push_back(fmt::format("{}: {}", title_, note));
    return table;
  }

 private:
  std::string label_word() const {
    const ColumnRequest* first = nullptr;
    for (const ColumnRequest& column : request_.columns) {
      if (!is_label(column.source())) continue;
      if (first != nullptr && column.source() != first->source())
        throw UserError(column.where, R"(classes are files or folders: "file" and "folder" do not go together)");
      first = &column;
    }
    return first == nullptr ? "" : first->source();
  }

  [[noreturn]] void changed() const { throw UserError(where_, title_ + ": changed while it was read"); }

  // In a text of several lines, errors name the line and column in its file.
  void fail(const TextLine& line, const TextFile& from, size_t offset, const std::string& message,
            const std::string& help) const {
    if (lines_) from.fail(line.number, static_cast<int64_t>(offset) + 1, message, help);
    const LineColumn place = from.place(offset);
    from.fail(place.line, place.column, message, help);
  }

  template <class F>
  void each_text(const F& f) const {
    for (const ClassFile& file : folder_.files) {
      const TextFile from(root_, file.name, where_);
      if (lines_) {
        from.each_line([&](const TextLine& line) { f(line, file, from); });
      } else {
        f(TextLine{1, from.text()}, file, from);
      }
    }
  }

  // Names in the folder, and the class of each.
  void list() {
    const fs::path home = resolve_folder(root_, title_, where_);
    const std::vector<std::string> known = known_classes(request_);
    const std::set<std::string> known_words(known.begin(), known.end());
    std::map<std::string, std::string> found;  // names in the folder, by class
    for (const std::string& name : names_in(home, title_, where_)) {
      const bool folder = is_folder(home / name, title_ + "/" + name, where_);
      const std::string word = folders_ ? name : class_of_file(name);
      if (!known_words.contains(word) && (folder != folders_ || is_remark(name))) {
        if (folder && label_word() == "file")
          throw UserError(where_, fmt::format("{}/{}: a folder among the files of classes", title_, printable(name)),
                          R"("folder" for "file" takes folders for classes)");
        passed_over_.push_back(printable(name));
        continue;
      }
      require_class_name(word, title_, folders_ ? "folder" : "file", where_);
      if (!known.empty() && !known_words.contains(word))
        throw UserError(where_,
                        fmt::format("{}: the {} '{}' is none of the classes", title_, folders_ ? "folder" : "file",
                                    printable(name)),
                        did_you_mean(word, known));
      std::string& file = found[word];
      if (!file.empty())
        throw UserError(where_,
                        fmt::format("{}: class '{}' has two files, '{}' and '{}'", title_, printable(word),
                                    printable(file), printable(name)),
                        "join or rename them: a class is a file, by its name without the ending");
      file = name;
    }
    folder_.classes = known;
    if (known.empty())
      for (const auto& [word, name] : found) folder_.classes.push_back(word);
    if (found.empty())
      throw UserError(where_, fmt::format("{}: no {} in it", title_, folders_ ? "folders" : "files of text"),
                      folders_ ? "each class has a folder of its own" : "each class has a file of its own");
    for (size_t c = 0; c < folder_.classes.size(); ++c)
      if (const auto name = found.find(folder_.classes[c]); name != found.end())
        add_files(title_ + "/" + name->second, static_cast<int64_t>(c));
  }

  void add_files(const std::string& name, int64_t label) {
    if (!folders_) {
      folder_.files.push_back({name, label});
      return;
    }
    const fs::path home = resolve_folder(root_, name, where_);
    for (const std::string& file : names_in(home, name, where_)) {
      if (is_folder(home / file, fmt::format("{}/{}", name, file), where_))
        throw UserError(where_, fmt::format("{}/{}: a folder inside that of a class", name, printable(file)),
                        "texts lie in the folder of their class itself");
      folder_.files.push_back({fmt::format("{}/{}", name, file), label});
    }
  }

  // Counts rows and classes, and finds the characters.
  int64_t first_pass() {
    std::vector<int64_t> of_class(folder_.classes.size());
    int64_t rows = 0;
    each_text([&](const TextLine& line, const ClassFile& file, const TextFile&) {
      ++of_class[static_cast<size_t>(file.label)];
      for (size_t i = 0; i < request_.columns.size(); ++i)
        if (texts_.is_text(i)) texts_.collect(i, line.text, rows);
      ++rows;
    });
    require_texts(of_class);
    return rows;
  }

  void require_texts(const std::vector<int64_t>& of_class) const {
    if (!numbers_what_is_found(request_, {"file", "folder"})) return;
    for (size_t c = 0; c < of_class.size(); ++c)
      if (of_class[c] == 0)
        throw UserError(where_,
                        fmt::format("{}: no text in the {} of class '{}'", title_, folders_ ? "folder" : "file",
                                    printable(folder_.classes[c])),
                        "remove it; \"classes\" names classes without any");
  }

  const ReaderRequest& request_;
  fs::path root_;
  Location where_;
  std::string title_;
  TextColumns texts_;
  bool lines_ = true, folders_ = false;
  ClassFolder folder_;
  std::vector<std::string> passed_over_;  // what is no class, though it lies there
};

std::vector<Key> keys() {
  std::vector<Key> all = {{.name = "folder", .type = KeyType::path, .doc = "that holds the texts", .required = true},
                          {.name = "rows",
                           .type = KeyType::text,
                           .doc = "what a text is",
                           .fallback = std::string("lines"),
                           .words = {"lines", "files"}},
                          {.name = "classes",
                           .type = KeyType::text,
                           .count = Count::several,
                           .doc = "names of files without their ending, or of folders, in the order of their numbers"}};
  all.insert(all.end(), text_keys().begin(), text_keys().end());
  return all;
}

const RegisterReader text_folder({
    .name = "text_folder",
    .doc = "texts in a file or a folder for each class; an input is \"characters\", \"bytes\" or \"tokens\", their "
           "\"length\", or the class: \"file\" or \"folder\"",
    .keys = keys(),
    .one_text = true,
    .header = [](const ReaderRequest& request, const fs::path& root) { return TextFolder(request, root).header(); },
    .read = [](const ReaderRequest& request, const fs::path& root) { return TextFolder(request, root).read(); },
});

}  // namespace
}  // namespace heddle::runtime::data
