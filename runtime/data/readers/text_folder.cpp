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
#include "runtime/data/folder.h"
#include "runtime/data/input_file.h"
#include "runtime/data/path.h"
#include "runtime/data/printable.h"
#include "runtime/data/text_coder.h"
#include "runtime/data/text_file.h"
#include "runtime/text/unicode.h"

namespace heddle::runtime::data {
namespace {

namespace fs = std::filesystem;

struct File {
  std::string name;  // from the data's folder: "names/Arabic.txt"
  int64_t label = 0;
};
struct Folder {
  std::vector<std::string> classes;
  std::vector<File> files;                 // class by class
  std::vector<std::string> passed_over{};  // what is no class, though it lies there
};

bool is_label(std::string_view word) { return word == "file" || word == "folder"; }

// "Arabic" of "Arabic.txt" and "Arabic.txt.gz".
std::string class_of_file(const std::string& name) {
  fs::path path = name;
  if (path.extension() == ".gz") path = path.stem();
  return path.stem().string();
}

// What is put beside data, not part of it.
bool is_remark(const std::string& name) {
  constexpr std::array kRemarks = {"README", "LICENSE", "LICENCE",  "COPYING", "NOTICE",
                                   "SOURCE", "SOURCES", "CITATION", "AUTHORS"};
  return std::ranges::count(kRemarks, class_of_file(name)) > 0;
}

class TextFolder {
 public:
  TextFolder(const ReaderRequest& request, const fs::path& root)
      : request_(request),
        root_(root),
        where_(request.place("folder")),
        title_(request.text("folder")),
        settings_(text_settings(request)),
        lines_(request.text("rows") == "lines") {
    settings_.lengths = std::ranges::any_of(request.columns, is_length);
    folders_ = label_word() == "folder";
    list();
  }

  TableHeader header() {
    TableHeader out;
    out.names_found = request_.find("classes") == nullptr;
    out.rows = first_pass(out);
    if (out.rows == 0) throw UserError(where_, fmt::format("{}: no text in its files", title_), kNoRowsHelp);
    require_text_room(request_, out.rows);
    for (const ColumnRequest& column : request_.columns) {
      out.class_names.push_back(is_label(column.source()) ? folder_.classes : std::vector<std::string>());
      out.tokenizers.push_back(tokenizer_for(column, out));
    }
    out.types = types(out.tokenizers);
    if (!folder_.passed_over.empty())
      out.notes.push_back(fmt::format("{}: {} {} passed over, not read as text; \"classes\" would name what is read",
                                      title_, fmt::join(folder_.passed_over, ", "),
                                      folder_.passed_over.size() == 1 ? "is" : "are"));
    return out;
  }

  Table read() {
    const TableHeader head = header();
    Table table{.rows = head.rows, .columns = {}};
    std::vector<ColumnRequest> known = request_.columns;
    std::vector<std::unique_ptr<TextRows>> texts;
    std::vector<std::byte*> to;
    for (size_t i = 0; i < known.size(); ++i) {
      known[i].tokenizer = head.tokenizers[i];
      const auto unit = text_unit(known[i].source());
      texts.push_back(unit ? std::make_unique<TextRows>(known[i], *unit, settings_) : nullptr);
      Column& column = table.columns.emplace_back(Column{
          .input = known[i].input, .type = head.types[i], .dims = unit ? known[i].dims : std::vector<int64_t>()});
      to.push_back(make_room(column, table.rows, request_.resident));
    }
    int64_t rows = 0;
    each_text([&](const TextLine& line, const File& file, const TextFile& from) {
      if (rows++ >= table.rows) changed();
      const TextRows* first = nullptr;
      for (auto& text : texts) {
        if (text == nullptr) continue;
        text->encode(line.text, [&](size_t offset, const std::string& message, const std::string& help) {
          fail(line, from, offset, message, help);
        });
        if (first == nullptr) first = text.get();
      }
      for (size_t i = 0; i < known.size(); ++i) {
        Column& column = table.columns[i];
        if (texts[i] != nullptr) {
          texts[i]->store_ids(column.type, to[i]);
        } else if (is_length(known[i]) && first != nullptr) {
          first->store_size(column.type, to[i]);
        } else {
          store_integer(column.type, file.label, to[i]);
        }
        to[i] += column.row_bytes();
      }
    });
    if (rows != table.rows) changed();
    for (const auto& text : texts)
      if (text != nullptr && !text->note().empty()) table.notes.push_back(fmt::format("{}: {}", title_, text->note()));
    return table;
  }

 private:
  static bool is_length(const ColumnRequest& column) { return column.source() == "length"; }

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

  // A text of several lines has its places in its file.
  void fail(const TextLine& line, const TextFile& from, size_t offset, const std::string& message,
            const std::string& help) const {
    if (lines_) from.fail(line.number, static_cast<int64_t>(offset) + 1, message, help);
    const LineColumn place = from.place(offset);
    from.fail(place.line, place.column, message, help);
  }

  template <class F>
  void each_text(const F& f) const {
    for (const File& file : folder_.files) {
      const TextFile from(root_, file.name, where_);
      if (lines_) {
        from.each_line([&](const TextLine& line) { f(line, file, from); });
      } else {
        f(TextLine{1, from.text()}, file, from);
      }
    }
  }

  // Stated, those of the training rows, or all that there are.
  std::vector<std::string> known_classes() const {
    if (request_.find("classes") != nullptr) return request_.texts("classes");
    for (const ColumnRequest& column : request_.columns)
      if (!column.class_names.empty()) return column.class_names;
    return {};
  }

  // Names in the folder, and the class of each.
  void list() {
    const fs::path home = resolve_folder(root_, title_, where_);
    const std::vector<std::string> known = known_classes();
    std::map<std::string, std::vector<std::string>> found;  // names in the folder, by class
    for (const std::string& name : names_in(home, title_, where_)) {
      const bool folder = is_folder(home / name, title_ + "/" + name, where_);
      const std::string word = folders_ ? name : class_of_file(name);
      if (std::ranges::count(known, word) == 0 && (folder != folders_ || is_remark(name))) {
        if (folder && label_word() == "file")
          throw UserError(where_, fmt::format("{}/{}: a folder among the files of classes", title_, printable(name)),
                          R"("folder" for "file" takes folders for classes)");
        folder_.passed_over.push_back(printable(name));
        continue;
      }
      require_class_name(word, title_, folders_ ? "folder" : "file", where_);
      if (!known.empty() && std::ranges::count(known, word) == 0)
        throw UserError(where_,
                        fmt::format("{}: the {} '{}' is none of the classes", title_, folders_ ? "folder" : "file",
                                    printable(name)),
                        did_you_mean(word, known));
      found[word].push_back(name);
    }
    folder_.classes = known;
    if (known.empty())
      for (const auto& [word, names] : found) folder_.classes.push_back(word);
    if (found.empty())
      throw UserError(where_, fmt::format("{}: no {} in it", title_, folders_ ? "folders" : "files of text"),
                      folders_ ? "each class has a folder of its own" : "each class has a file of its own");
    for (size_t c = 0; c < folder_.classes.size(); ++c)
      for (const std::string& name : found[folder_.classes[c]]) add_files(title_ + "/" + name, static_cast<int64_t>(c));
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
  int64_t first_pass(TableHeader& out) {
    const bool collects = std::ranges::any_of(request_.columns, [](const ColumnRequest& column) {
      return column.source() == "characters" && column.tokenizer.empty();
    });
    std::vector<int64_t> of_class(folder_.classes.size());
    std::map<uint32_t, int64_t> held;  // characters of rows that do not train, and the first of these
    int64_t rows = 0;
    each_text([&](const TextLine& line, const File& file, const TextFile&) {
      ++of_class[static_cast<size_t>(file.label)];
      const bool trains = request_.held == nullptr || request_.held->at(static_cast<size_t>(rows)) == 0;
      for (size_t at = 0; collects && at < line.text.size();) {
        const uint32_t code = text::next_code(line.text, at);
        if (trains) {
          characters_.insert(code);
        } else {
          held.emplace(code, rows);
        }
      }
      ++rows;
    });
    std::set<int64_t> strange;
    for (const auto& [code, row] : held)
      if (!characters_.contains(code) && settings_.unknown.empty()) strange.insert(row);
    out.strange.assign(strange.begin(), strange.end());
    require_texts(of_class);
    return rows;
  }

  // A file that nobody meant as a class would move the numbers of those behind it.
  void require_texts(const std::vector<int64_t>& of_class) const {
    const bool numbered = std::ranges::none_of(request_.columns, [](const ColumnRequest& column) {
      return is_label(column.source()) && column.class_names.empty();
    });
    if (numbered || request_.find("classes") != nullptr) return;
    for (size_t c = 0; c < of_class.size(); ++c)
      if (of_class[c] == 0)
        throw UserError(where_,
                        fmt::format("{}: no text in the {} of class '{}'", title_, folders_ ? "folder" : "file",
                                    printable(folder_.classes[c])),
                        "remove it; \"classes\" names classes without any");
  }

  std::string tokenizer_for(const ColumnRequest& column, TableHeader& out) const {
    const auto unit = text_unit(column.source());
    if (!unit) {
      if (!is_length(column) && !is_label(column.source()))
        throw UserError(column.where,
                        fmt::format("a text has \"characters\", \"bytes\", \"tokens\", a \"length\" and the class of "
                                    "its \"file\" or \"folder\", not \"{}\"",
                                    printable(column.source())));
      return {};
    }
    if (!column.tokenizer.empty()) return column.tokenizer;
    if (*unit == TextUnit::characters) {
      out.tokens_found = true;
      return tokenizer_of(settings_, characters_);
    }
    return tokenizer_of(settings_, *unit, root_, column.where);
  }

  std::vector<ElementType> types(const std::vector<std::string>& tokenizers) const {
    std::vector<ElementType> types;
    bool texts = false;
    for (size_t i = 0; i < tokenizers.size(); ++i) {
      types.push_back(ElementType::i32);
      const auto unit = text_unit(request_.columns[i].source());
      if (!unit) continue;
      ColumnRequest known = request_.columns[i];
      known.tokenizer = tokenizers[i];
      types.back() = TextRows(known, *unit, settings_).coder().stored();
      texts = true;
    }
    for (const ColumnRequest& column : request_.columns)
      if (is_length(column) && !texts)
        throw UserError(column.where, "a length is that of an input of text, and the reader feeds none",
                        "give another input \"characters\", \"bytes\" or \"tokens\"");
    return types;
  }

  const ReaderRequest& request_;
  fs::path root_;
  Location where_;
  std::string title_;
  TextSettings settings_;
  bool lines_ = true, folders_ = false;
  Folder folder_;
  std::set<uint32_t> characters_;  // of the rows that train
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
    .header = [](const ReaderRequest& request, const fs::path& root) { return TextFolder(request, root).header(); },
    .read = [](const ReaderRequest& request, const fs::path& root) { return TextFolder(request, root).read(); },
});

}  // namespace
}  // namespace heddle::runtime::data
