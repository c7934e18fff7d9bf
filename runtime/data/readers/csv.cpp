// Rows of a text file. It is read twice: once for the number of rows and the names of classes, once for the values.
#include <fmt/ranges.h>
#include <xxhash.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <map>
#include <optional>
#include <set>

#include "runtime/data/check_column.h"
#include "runtime/data/csv_file.h"
#include "runtime/data/parse_number.h"
#include "runtime/data/path.h"
#include "runtime/data/printable.h"
#include "runtime/data/sound_columns.h"
#include "runtime/data/table.h"
#include "runtime/data/text_columns.h"
#include "runtime/json_text.h"

namespace heddle::runtime::data {
namespace {

constexpr size_t kMostClasses = 100'000;

// Names of classes, and the first row that has each.
using Names = std::map<std::string, int64_t, std::less<>>;

// Which fields of a record an input is made of, and how.
struct Selection {
  const ColumnRequest* request = nullptr;
  std::vector<size_t> fields;
  ElementType type = ElementType::f32;
  bool named = false;                                   // fields are names of classes
  std::vector<std::string> names;                       // empty: those that are found
  std::map<std::string, int64_t, std::less<>> numbers;  // of the names
};

class CsvTable {
 public:
  CsvTable(const ReaderRequest& request, const std::filesystem::path& root)
      : request_(request),
        name_(request.text("file")),
        where_(request.place("file")),
        root_(root),
        path_(resolve(root, name_, where_)),
        delimiter_(read_delimiter(request)),
        texts_(request, text_settings(request), text_words(request), sources_of(request)),
        sounds_(request, sound_words(request), sources_of(request)) {
    read_layout();
    for (const ColumnRequest& column : request.columns) selections_.push_back(select(column));
  }

  TableHeader first_pass() {
    TableHeader out;
    std::vector<Names> found(selections_.size()), held(selections_.size());
    out.rows = each_row([&](const std::vector<CsvField>& fields, int64_t row, const CsvFile& file) {
      const bool trains = request_.held == nullptr || request_.held->at(static_cast<size_t>(row)) == 0;
      for (size_t i = 0; i < selections_.size(); ++i)
        if (texts_.is_text(i)) {
          texts_.collect(i, require_text(selections_[i], fields, file), row);
        } else if (selections_[i].named && selections_[i].names.empty()) {
          collect(selections_[i], fields, file, row, trains ? found[i] : held[i]);
        }
    });
    out.strange = strange_rows(found, held);
    if (out.rows == 0)
      throw UserError(where_, fmt::format("{}: no rows{}", name_, has_header() ? " below the header" : ""),
                      kNoRowsHelp);
    for (size_t i = 0; i < selections_.size(); ++i) {
      out.types.push_back(selections_[i].type);
      Selection& s = selections_[i];
      if (s.named && s.names.empty()) {
        for (const auto& [name, row] : found[i]) s.names.push_back(name);
        out.names_found = true;
      }
      for (size_t n = 0; n < s.names.size(); ++n) s.numbers[s.names[n]] = static_cast<int64_t>(n);
      out.class_names.push_back(s.names);
    }
    if (texts_.any()) {
      require_text_room(request_, out.rows);
      texts_.finish(out, root_);
    }
    return out;
  }

  std::vector<uint64_t> values(const Source& source) const {
    std::vector<size_t> fields;
    add_fields(source, fields);
    std::vector<uint64_t> hashes;
    each_row([&](const std::vector<CsvField>& row, int64_t, const CsvFile&) {
      uint64_t hash = 0;
      for (const size_t f : fields) hash = XXH3_64bits_withSeed(row[f].text.data(), row[f].text.size(), hash);
      hashes.push_back(hash);
    });
    return hashes;
  }

  Table read() {
    const TableHeader header = first_pass();
    Table table{.rows = header.rows, .columns = {}};
    std::vector<std::byte*> to;
    std::vector<SoundPlace> sounds;
    for (size_t i = 0; i < selections_.size(); ++i) {
      Selection& s = selections_[i];
      s.type = header.types[i];
      to.push_back(
          add_column(table, {.input = s.request->input, .type = s.type, .dims = s.request->dims}, request_.resident));
    }
    const int64_t rows = each_row([&](const std::vector<CsvField>& fields, int64_t row, const CsvFile& file) {
      if (row >= table.rows) changed();
      for (size_t i = 0; i < selections_.size(); ++i)
        if (texts_.is_text(i)) encode(i, fields, file);
      for (size_t i = 0; i < selections_.size(); ++i) {
        const int64_t size = size_of(selections_[i].type);
        if (texts_.is_text(i) || texts_.is_size(i)) {
          texts_.store(i, selections_[i].type, to[i]);
          to[i] += table.columns[i].row_bytes();
          continue;
        }
        if (is_of_sound(i)) {
          const CsvField& field = fields[selections_[i].fields[0]];
          if (sounds_.is_sound(i))
            sounds.push_back({.column = i,
                              .row = row,
                              .name = std::string(field.text),
                              .line = field.line,
                              .column_in_line = field.column});
          continue;
        }
        for (const size_t f : selections_[i].fields) store(selections_[i], fields[f], f, file, to[i]), to[i] += size;
      }
    });
    if (rows != table.rows) changed();
    sounds_.read(sounds, root_, where_, table, [&](const SoundPlace& sound, const UserError& error) {
      const Diagnostic& first = error.diagnostics().front();
      open().fail(sound.line, sound.column_in_line, first.message, first.help);
    });
    for (const std::string& note : sounds_.notes()) table.notes.push_back(fmt::format("{}: {}", name_, note));
    for (const std::string& note : texts_.notes()) table.notes.push_back(fmt::format("{}: {}", name_, note));
    return table;
  }

 private:
  static std::vector<std::string> sources_of(const ReaderRequest& request) {
    std::vector<std::string> sources;
    for (const ColumnRequest& column : request.columns) sources.push_back(column.source());
    return sources;
  }

  static std::string_view require_text(const Selection& s, const std::vector<CsvField>& fields, const CsvFile& file) {
    const CsvField& field = fields[s.fields[0]];
    if (!is_utf8(field.text))
      file.fail(field.line, field.column, fmt::format("the text of input '{}' is not valid UTF-8", s.request->input),
                "iconv converts files: iconv -f latin1 -t utf-8");
    return field.text;
  }

  void encode(size_t i, const std::vector<CsvField>& fields, const CsvFile& file) {
    const CsvField& field = fields[selections_[i].fields[0]];
    texts_.encode(i, field.text, [&](size_t, const std::string& message, const std::string& help) {
      file.fail(field.line, field.column, fmt::format("input '{}': {}", selections_[i].request->input, message), help);
    });
  }

  bool is_of_sound(size_t i) const { return sounds_.is_sound(i) || sounds_.is_size(i); }
  bool has_header() const { return request_.flag("header"); }

  static char read_delimiter(const ReaderRequest& request) {
    const std::string& text = request.text("delimiter");
    if (text.size() != 1 || std::string("\"\r\n").find(text[0]) != std::string::npos || text[0] == '\0')
      throw UserError(request.place("delimiter"),
                      "csv: 'delimiter' is one character, and neither a quotation mark nor an end of line");
    return text[0];
  }

  CsvFile open() const { return {path_, name_, where_, delimiter_}; }
  [[noreturn]] void changed() const { throw UserError(where_, name_ + ": changed while it was read"); }

  void read_layout() {
    CsvFile file = open();
    std::vector<CsvField> fields;
    if (!file.next(fields)) throw UserError(where_, fmt::format("{}: the file is empty", name_));
    width_ = fields.size();
    if (!has_header()) return;
    for (const CsvField& f : fields) {
      Title& title = places_[titles_.emplace_back(f.text)];
      if (title.count++ == 0) title.field = titles_.size() - 1;
    }
  }

  template <class F>
  int64_t each_row(const F& f) const {
    CsvFile file = open();
    std::vector<CsvField> fields;
    if (has_header()) file.next(fields);
    int64_t rows = 0;
    for (; file.next(fields); ++rows) {
      if (fields.size() != width_)
        file.fail(fields[0].line, fields[0].column,
                  fmt::format("{} fields, but the first line has {}", fields.size(), width_));
      f(fields, rows, file);
    }
    return rows;
  }

  std::string title(size_t field) const {
    return titles_.empty() ? std::to_string(field) : "'" + printable(titles_[field]) + "'";
  }

  // By name, else by index.
  std::optional<size_t> find(std::string_view word, const Location& where) const {
    if (const auto title = places_.find(word); title != places_.end()) {
      if (title->second.count == 1) return title->second.field;
      throw UserError(where, fmt::format("{}: {} columns are called '{}'", name_, title->second.count, printable(word)),
                      "name it by its index, counted from 0");
    }
    size_t index = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), index);
    if (error == std::errc{} && end == word.data() + word.size() && index < width_) return index;
    return std::nullopt;
  }

  // A column, or "first:last".
  void add_fields(const Source& source, std::vector<size_t>& fields) const {
    const auto& [word, where] = source;
    const auto one = find(word, where);
    const size_t colon = word.find(':');
    if (one || colon == std::string::npos) {
      if (!one) unknown(source);
      fields.push_back(*one);
      return;
    }
    const auto first = find(word.substr(0, colon), where), last = find(word.substr(colon + 1), where);
    if (!first || !last) unknown(source);
    if (*last < *first)
      throw UserError(where, fmt::format("{}: '{}' ends before it begins", name_, printable(word)),
                      order_of(*first, *last));
    for (size_t i = *first; i <= *last; ++i) fields.push_back(i);
  }

  // Numbers in the first line are names, too, which is seldom meant.
  std::string order_of(size_t first, size_t last) const {
    if (titles_.empty()) return {};
    return fmt::format("line 1 names column {} {} and column {} {}; where it is a row, \"header\": false", last,
                       title(last), first, title(first));
  }

  [[noreturn]] void unknown(const Source& source) const {
    const auto& [word, where] = source;
    throw UserError(where, fmt::format("{}: there is no column '{}', of {}", name_, printable(word), width_),
                    known_columns(word));
  }

  // What the columns are called, as a help; blanks and another delimiter are hard to see otherwise.
  std::string known_columns(const std::string& word) const {
    constexpr size_t kShown = 12, kMostBytes = 40;
    if (titles_.empty()) return fmt::format("columns are counted from 0: 0 to {}", width_ - 1);
    if (titles_.size() > kShown && !nearest(word, titles_).empty()) return did_you_mean(word, titles_);
    std::vector<std::string> shown;
    for (size_t i = 0; i < std::min(titles_.size(), kShown); ++i)
      shown.push_back("'" + printable(titles_[i].substr(0, kMostBytes)) +
                      (titles_[i].size() > kMostBytes ? "...'" : "'"));
    if (titles_.size() > kShown) shown.emplace_back("...");
    const std::string help = fmt::format("line 1 names {}", fmt::join(shown, ", "));
    return width_ > 1 ? help
                      : help + fmt::format("; they are separated by '{}': 'delimiter' says otherwise",
                                           printable(std::string(1, delimiter_)));
  }

  Selection select(const ColumnRequest& column) const {
    Selection s{.request = &column, .fields = {}, .names = {}, .numbers = {}};
    for (const Source& source : column.sources) add_fields(source, s.fields);
    const auto place = static_cast<size_t>(&column - request_.columns.data());
    const bool one = texts_.is_text(place) || sounds_.is_sound(place);
    const int64_t wanted = one ? 1 : elements_of(column.dims);
    if (one && s.fields.size() != 1)
      throw UserError(column.where, fmt::format("{}: {} columns, but input '{}' is made of one {}", name_,
                                                s.fields.size(), column.input, is_of_sound(place) ? "sound" : "text"));
    if (wanted != std::ssize(s.fields))
      throw UserError(column.where, fmt::format("{}: {} columns, but a row of input '{}' has {} elements", name_,
                                                s.fields.size(), column.input, wanted));
    s.type = is_of_sound(place) ? sounds_.type(place) : column.one_hot ? ElementType::i32 : filled_type(column);
    if (const ReaderSetting* classes = request_.find("classes")) {
      const auto& all = std::get<ClassNames>(classes->value);
      const auto names = all.find(column.input);
      if (names != all.end()) name_classes(s, names->second);
    }
    return s;
  }

  void name_classes(Selection& s, const std::vector<std::string>& names) const {
    if (is_floating(s.type))
      throw UserError(request_.place("classes"), fmt::format("input '{}' is {}: classes are numbered by integers",
                                                             s.request->input, s.request->dtype));
    s.named = true;
    s.names = names.empty() ? s.request->class_names : names;
  }

  // Rows that have a name which no training row has.
  static std::vector<int64_t> strange_rows(const std::vector<Names>& found, const std::vector<Names>& held) {
    std::set<int64_t> rows;
    for (size_t i = 0; i < held.size(); ++i)
      for (const auto& [name, row] : held[i])
        if (!found[i].contains(name)) rows.insert(row);
    return {rows.begin(), rows.end()};
  }

  void collect(const Selection& s, const std::vector<CsvField>& fields, const CsvFile& file, int64_t row,
               Names& found) const {
    for (const size_t f : s.fields) {
      if (is_missing(fields[f].text) || found.contains(fields[f].text)) continue;
      if (found.size() == kMostClasses)
        file.fail(fields[f].line, fields[f].column,
                  fmt::format("column {} has more than {} different names", title(f), kMostClasses));
      if (!is_utf8(fields[f].text))  // weights keep the names: two of them would become one
        file.fail(
            fields[f].line, fields[f].column,
            fmt::format("column {} of input '{}': a name of a class is not valid UTF-8", title(f), s.request->input),
            "iconv converts files: iconv -f latin1 -t utf-8");
      found.emplace(fields[f].text, row);
    }
  }

  void store(const Selection& s, const CsvField& field, size_t index, const CsvFile& file, std::byte* to) const {
    const auto fail = [&](const std::string& what, const std::string& help, const std::vector<Diagnostic>& notes = {}) {
      file.fail(
          field.line, field.column,
          fmt::format("column {} of input '{}': '{}' {}", title(index), s.request->input, printable(field.text), what),
          help, notes);
    };
    const auto number = s.numbers.find(field.text);  // of a class that is listed, were it called NA
    if (number == s.numbers.end() && is_missing(field.text)) {
      const ReaderSetting* missing = request_.find("missing");
      if (missing == nullptr)
        fail("is missing",
             fmt::format("\"missing\": NUMBER stands for what is missing{}",
                         s.named ? "; where it is the name of a class, list it with the others in \"classes\"" : ""));
      store_number(s.type, std::get<double>(missing->value), to);
      return require_range(s, to, fail);
    }
    if (!s.named) {
      const std::string fault = parse_number(field.text, s.type, to);
      if (!fault.empty()) fail(fault, is_name(field.text, s.type) ? numbers_names(s) : "");
      return require_range(s, to, fail);
    }
    if (number == s.numbers.end()) fail("is none of the classes", did_you_mean(field.text, s.names));
    store_number(s.type, static_cast<double>(number->second), to);
    require_range(s, to, fail);
  }

  // What stands where a class's number is expected, and is none of any kind.
  static bool is_name(std::string_view text, ElementType type) {
    std::byte number[sizeof(double)];
    return !is_floating(type) && !parse_number(text, ElementType::f64, number).empty();
  }
  static std::string numbers_names(const Selection& s) {
    return "\"classes\": {\"" + s.request->input + "\": \"sorted\"} numbers names";
  }

  // As read_table does, which knows no lines.
  template <class Fail>
  void require_range(const Selection& s, const std::byte* to, const Fail& fail) const {
    if (is_floating(s.type)) return;
    visit(s.type, [&](auto value) {
      std::memcpy(&value, to, sizeof value);
      const auto v = static_cast<int64_t>(value);
      const std::string fault = range_fault(*s.request, v);
      if (!fault.empty())
        fail((s.named ? fmt::format("is class {}: ", v) : "is out of range: ") + fault, "", s.request->bounded_by);
    });
  }

  void store_number(ElementType type, double number, std::byte* to) const {
    const std::string fault = parse_number(fmt::format("{}", number), type, to);
    if (!fault.empty()) throw UserError(request_.place("missing"), fmt::format("csv: {} {}", number, fault));
  }

  const ReaderRequest& request_;
  std::string name_;
  Location where_;
  std::filesystem::path root_, path_;
  char delimiter_;
  TextColumns texts_;
  SoundColumns sounds_;
  std::vector<std::string> titles_;  // empty without a header
  struct Title {
    size_t field = 0, count = 0;  // the first of that name, and how many there are
  };
  std::map<std::string, Title, std::less<>> places_;
  size_t width_ = 0;  // fields of a record
  std::vector<Selection> selections_;
};

std::vector<Key> keys() {
  std::vector<Key> all = {
      {.name = "file", .type = KeyType::path, .doc = "plain or .gz", .required = true},
      {.name = "header", .type = KeyType::flag, .doc = "the first line names the columns", .fallback = true},
      {.name = "delimiter", .type = KeyType::text, .doc = "one character", .fallback = std::string(",")},
      {.name = "missing", .type = KeyType::real, .doc = "the number that stands for what is missing"},
      {.name = "classes",
       .type = KeyType::classes,
       .count = Count::by_name,
       .doc = "for inputs whose columns name classes"},
      text_words_key(),
      sound_words_key()};
  all.insert(all.end(), text_keys().begin(), text_keys().end());
  all.insert(all.end(), sound_keys().begin(), sound_keys().end());
  return all;
}

const RegisterReader csv({
    .name = "csv",
    .doc = "a text file; an input is made of a column or of several, by name, index or as \"first:last\"",
    .column = {.name = {}, .type = KeyType::word, .count = Count::several},
    .keys = keys(),
    .header = [](const ReaderRequest& request,
                 const std::filesystem::path& root) { return CsvTable(request, root).first_pass(); },
    .read = [](const ReaderRequest& request,
               const std::filesystem::path& root) { return CsvTable(request, root).read(); },
    .values = [](const ReaderRequest& request, const std::filesystem::path& root,
                 const Source& column) { return CsvTable(request, root).values(column); },
});

}  // namespace
}  // namespace heddle::runtime::data
