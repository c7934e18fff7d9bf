// The reader `csv`: rows of CSV files. The files are read twice: once for the number of rows and the names of classes,
// once for the values.
#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <set>

#include "runtime/data/check_column.h"
#include "runtime/data/class_rule.h"
#include "runtime/data/csv_layout.h"
#include "runtime/data/date_parts.h"
#include "runtime/data/hash_rule.h"
#include "runtime/data/missing_values.h"
#include "runtime/data/number_style.h"
#include "runtime/data/parse_number.h"
#include "runtime/data/printable.h"
#include "runtime/data/row_condition.h"
#include "runtime/data/sound_columns.h"
#include "runtime/data/table.h"
#include "runtime/data/text_columns.h"
#include "runtime/json_text.h"

namespace heddle::runtime::data {
namespace {

constexpr size_t kMostClasses = 100'000;

// The fields of a record from which an input is made, and how.
struct Selection {
  const ColumnRequest* request = nullptr;
  std::vector<size_t> fields;      // of each value
  std::vector<std::string> parts;  // of the dates in them, "" of what is none; empty: none is one
  ElementType type = ElementType::f32;
  bool named = false;                                   // fields are names of classes
  std::vector<std::string> names;                       // empty: those that are found
  std::map<std::string, int64_t, std::less<>> numbers;  // of the names
  int64_t hash = 0;                                     // fields are texts that become so many numbers; 0: they are not
  bool indicated = false;                               // behind the fields' values stands which of them are missing
  std::vector<double> fills;                            // of the fields, where the training rows say
};

class CsvTable {
 public:
  CsvTable(const ReaderRequest& request, const std::filesystem::path& root)
      : request_(request),
        where_(request.place("file")),
        root_(root),
        layout_(request, root),
        style_(number_style(request.settings)),
        missing_(missing_rule(request.settings)),
        class_rule_(class_rule(request.settings)),
        texts_(request, text_settings(request), text_words(request), sources_of(request)),
        sounds_(request, sound_words(request), sources_of(request)) {
    find_dates();
    if (const ReaderSetting* where = request.find("where"))
      condition_.emplace(std::get<std::vector<std::string>>(where->value).at(0), where->where,
                         [&](const std::string& name, const Location& place) {
                           const auto field = layout_.find(name, place);
                           if (!field) layout_.unknown({name, place});
                           return *field;
                         });
    for (const ColumnRequest& column : request.columns) selections_.push_back(select(column));
  }

  TableHeader first_pass() {
    TableHeader out;
    std::vector<FoundNames> found(selections_.size()), held(selections_.size());
    FillFitter fitter(missing_, request_.resident);
    int64_t all = 0;
    out.rows = each_row(all, [&](const std::vector<CsvField>& fields, int64_t row, const CsvFile& file, size_t) {
      const bool trains = request_.held == nullptr || request_.held->at(static_cast<size_t>(row)) == 0;
      for (size_t i = 0; i < selections_.size(); ++i)
        if (texts_.is_text(i)) {
          texts_.collect(i, require_text(selections_[i], fields, file), row);
        } else if (selections_[i].named && selections_[i].names.empty()) {
          collect(selections_[i], fields, file, row, trains ? found[i] : held[i]);
        } else if (trains && is_fitted(i)) {
          fit(i, fields, fitter);
        }
    });
    out.notes = layout_.notes();
    if (condition_)
      if (const std::string told = left_out_note(*condition_, layout_.name(), out.rows, all); !told.empty())
        out.notes.push_back(told);
    if (class_rule_.other.empty()) out.strange = strange_rows(found, held);
    if (all == 0)
      throw UserError(where_,
                      fmt::format("{}: no rows{}", layout_.name(), layout_.has_header() ? " below the header" : ""),
                      kNoRowsHelp);
    for (size_t i = 0; i < selections_.size(); ++i) {
      out.types.push_back(selections_[i].type);
      Selection& s = selections_[i];
      if (s.named && s.names.empty()) {
        s.names = class_rule_.classes(found[i]);
        out.names_found = true;
      }
      for (size_t n = 0; n < s.names.size(); ++n) s.numbers[s.names[n]] = static_cast<int64_t>(n);
      out.class_names.push_back(s.names);
      if (is_fitted(i)) s.fills = fitter.finish(i, s.fields.size(), s.request->input), out.fills_found = true;
      out.fills.push_back(s.fills);
    }
    if (texts_.any()) {
      require_text_room(request_, out.rows);
      texts_.finish(out, root_);
    }
    return out;
  }

  std::vector<uint64_t> values(const Source& source) const {
    std::vector<size_t> fields;
    layout_.add_fields(source, fields);
    std::vector<uint64_t> hashes;
    int64_t all = 0;
    each_row(all, [&](const std::vector<CsvField>& row, int64_t, const CsvFile&, size_t) {
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
    int64_t all = 0;
    const int64_t rows =
        each_row(all, [&](const std::vector<CsvField>& fields, int64_t row, const CsvFile& file, size_t number) {
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
                                  .file = number,
                                  .line = field.line,
                                  .column_in_line = field.column});
              continue;
            }
            const Selection& s = selections_[i];
            for (size_t place = 0; place < s.fields.size(); ++place, to[i] += size)
              store(s, fields[s.fields[place]], place, file, to[i]);
            if (!s.indicated) continue;
            for (const size_t f : s.fields) indicate(s, fields[f].text, to[i]), to[i] += size;
          }
        });
    if (rows != table.rows) changed();
    sounds_.read(sounds, root_, where_, table, [&](const SoundPlace& sound, const UserError& error) {
      const Diagnostic& first = error.diagnostics().front();
      layout_.open(sound.file).fail(sound.line, sound.column_in_line, first.message, first.help);
    });
    for (const std::string& note : sounds_.notes()) table.notes.push_back(fmt::format("{}: {}", layout_.name(), note));
    for (const std::string& note : texts_.notes()) table.notes.push_back(fmt::format("{}: {}", layout_.name(), note));
    return table;
  }

 private:
  // Calls f for each selected row, as CsvLayout does, and returns their number. Sets `all` to the number of all rows.
  template <class F>
  int64_t each_row(int64_t& all, const F& f) const {
    if (!condition_) return all = layout_.each_row(f);
    const std::vector<CsvField>* row = nullptr;
    const CsvFile* of = nullptr;
    const RowCells cells = condition_cells(row, of);
    int64_t rows = 0;
    all = layout_.each_row([&](const std::vector<CsvField>& fields, int64_t, const CsvFile& file, size_t number) {
      row = &fields, of = &file;
      if (condition_->holds(cells)) f(fields, rows++, file, number);
    });
    return rows;
  }

  RowCells condition_cells(const std::vector<CsvField>* const& row, const CsvFile* const& file) const {
    const auto fail = [&](size_t column, const std::string& what, const std::string& help) {
      const CsvField& field = row->at(column);
      file->fail(field.line, field.column,
                 fmt::format("'where': column {}: '{}' {}", layout_.title(column), printable(field.text), what), help);
    };
    return {.number =
                [this, &row, fail](size_t column) {
                  double value = 0;
                  const std::string_view text = row->at(column).text;
                  if (is_missing(text)) fail(column, "is missing", missing_condition_help(layout_.word(column)));
                  const std::string fault =
                      parse_cell(text, style_, ElementType::f64, reinterpret_cast<std::byte*>(&value));
                  if (!fault.empty()) fail(column, fault, text_condition_help(layout_.word(column), text));
                  return value;
                },
            .text = [&row](size_t column) { return std::string(row->at(column).text); },
            .missing = [&row](size_t column) { return is_missing(row->at(column).text); },
            .fail =
                [&row, &file](const std::string& message) {
                  file->fail(row->at(0).line, row->at(0).column, "'where': " + message);
                }};
  }

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
  [[noreturn]] void changed() const { throw UserError(where_, layout_.name() + ": changed while it was read"); }

  void find_dates() {
    const ReaderSetting* dates = request_.find("dates");
    if (dates == nullptr) return;
    for (const auto& [column, parts] : std::get<ClassNames>(dates->value)) {
      const auto field = layout_.find(column, dates->where);
      if (!field) layout_.unknown({column, dates->where});
      dates_[*field] = parts;
    }
  }

  // A column of dates is a value for each part of them.
  void expand_dates(Selection& s) const {
    std::vector<size_t> fields;
    for (const size_t f : s.fields) {
      const auto date = dates_.find(f);
      const std::vector<std::string> parts = date == dates_.end() ? std::vector<std::string>{""} : date->second;
      fields.insert(fields.end(), parts.size(), f);
      s.parts.insert(s.parts.end(), parts.begin(), parts.end());
    }
    s.fields = std::move(fields);
    if (std::ranges::all_of(s.parts, [](const std::string& part) { return part.empty(); })) s.parts.clear();
  }

  Selection select(const ColumnRequest& column) const {
    Selection s{.request = &column, .fields = {}, .parts = {}, .names = {}, .numbers = {}, .fills = {}};
    for (const Source& source : column.sources) layout_.add_fields(source, s.fields);
    const auto place = static_cast<size_t>(&column - request_.columns.data());
    const bool one = texts_.is_text(place) || sounds_.is_sound(place);
    const int64_t wanted = one ? 1 : elements_of(column.dims);
    if (one && s.fields.size() != 1)
      throw UserError(column.where, fmt::format("{}: {} columns, but input '{}' is made of one {}", layout_.name(),
                                                s.fields.size(), column.input, is_of_sound(place) ? "sound" : "text"));
    if (!one && !dates_.empty()) expand_dates(s);
    s.indicated = !one && has_indicators(missing_, wanted, std::ssize(s.fields));
    if (wanted != std::ssize(s.fields) && !s.indicated)
      throw UserError(column.where,
                      fmt::format("{}: {} {}, but a row of input '{}' has {} elements", layout_.name(), s.fields.size(),
                                  s.parts.empty() ? "columns" : "values", column.input, wanted),
                      missing_.indicator ? "with indicators it has twice as many as there are columns" : "");
    s.type = is_of_sound(place) ? sounds_.type(place) : column.one_hot ? ElementType::i32 : filled_type(column);
    if (const ReaderSetting* classes = request_.find("classes")) {
      const auto& all = std::get<ClassNames>(classes->value);
      const auto names = all.find(column.input);
      if (names != all.end()) name_classes(s, names->second);
    }
    s.hash = hash_ids(request_, column);
    if (s.hash > 0 && !s.parts.empty())
      throw UserError(request_.place("hash"),
                      fmt::format("input '{}' has a hash, and its column is one of dates", column.input),
                      "leave the column out of \"dates\", or the input out of \"hash\"");
    if (s.named && !s.parts.empty())
      throw UserError(request_.place("dates"),
                      fmt::format("input '{}' names classes, and its column is one of dates", column.input),
                      "leave the column out of \"dates\", or the input out of \"classes\"");
    if (missing_.fits(s.type, s.named) && !one) take_fills(s);
    return s;
  }

  // Takes the fills of the weights, or those of the training rows.
  static void take_fills(Selection& s) {
    s.fills = s.request->fills;
    if (!s.fills.empty() && s.fills.size() != s.fields.size())
      throw UserError(s.request->where,
                      fmt::format("{} columns, but what stands for missing values of input '{}' is "
                                  "known of {}",
                                  s.fields.size(), s.request->input, s.fills.size()),
                      "all splits, and a training that begins with weights, have the columns of the first training");
  }

  void name_classes(Selection& s, const std::vector<std::string>& names) const {
    if (is_floating(s.type))
      throw UserError(request_.place("classes"), fmt::format("input '{}' is {}: classes are numbered by integers",
                                                             s.request->input, s.request->dtype));
    s.named = true;
    s.names = names.empty() ? s.request->class_names : names;
  }

  // Rows with a name that no training row has.
  static std::vector<int64_t> strange_rows(const std::vector<FoundNames>& found, const std::vector<FoundNames>& held) {
    std::set<int64_t> rows;
    for (size_t i = 0; i < held.size(); ++i)
      for (const auto& [name, of] : held[i])
        if (!found[i].contains(name)) rows.insert(of.row);
    return {rows.begin(), rows.end()};
  }

  void collect(const Selection& s, const std::vector<CsvField>& fields, const CsvFile& file, int64_t row,
               FoundNames& found) const {
    for (const size_t f : s.fields) {
      if (is_missing(fields[f].text)) continue;
      if (const auto known = found.find(fields[f].text); known != found.end()) {
        ++known->second.count;
        continue;
      }
      if (found.size() == kMostClasses)
        file.fail(fields[f].line, fields[f].column,
                  fmt::format("column {} has more than {} different names", layout_.title(f), kMostClasses));
      if (!is_utf8(fields[f].text))  // weights keep the names: two of them would become one
        file.fail(fields[f].line, fields[f].column,
                  fmt::format("column {} of input '{}': a name of a class is not valid UTF-8", layout_.title(f),
                              s.request->input),
                  "iconv converts files: iconv -f latin1 -t utf-8");
      found.emplace(fields[f].text, FoundName{.row = row, .count = 1});
    }
  }

  // Whether the training rows are to say what stands for missing values of the input, and no weights do.
  bool is_fitted(size_t i) const {
    const Selection& s = selections_[i];
    return missing_.fits(s.type, s.named) && s.request->fills.empty() && !texts_.is_text(i) && !texts_.is_size(i) &&
           !is_of_sound(i);
  }

  // Text that is not a number is reported when the rows are read.
  void fit(size_t i, const std::vector<CsvField>& fields, FillFitter& fitter) const {
    const std::vector<size_t>& of = selections_[i].fields;
    double value = 0;
    for (size_t k = 0; k < of.size(); ++k)
      if (const std::string_view text = fields[of[k]].text; !is_missing(text))
        if (parse(selections_[i], k, text, ElementType::f64, reinterpret_cast<std::byte*>(&value)).empty())
          fitter.add(i, k, value);
  }

  static void indicate(const Selection& s, std::string_view text, std::byte* to) {
    parse_number(is_missing(text) ? "1" : "0", s.type, to);
  }

  // The `place`-th value of a row.
  void store(const Selection& s, const CsvField& field, size_t place, const CsvFile& file, std::byte* to) const {
    const auto fail = [&](const std::string& what, const std::string& help, const std::vector<Diagnostic>& notes = {}) {
      file.fail(field.line, field.column,
                fmt::format("column {} of input '{}': '{}' {}", layout_.title(s.fields[place]), s.request->input,
                            printable(field.text), what),
                help, notes);
    };
    const auto listed = s.numbers.find(field.text);  // of a class that is listed, were it called NA
    if (listed == s.numbers.end() && is_missing(field.text)) {
      const std::optional<double> number = fill_of(missing_, s.fills, place, s.indicated);
      if (!number) fail("is missing", missing_help(missing_, s.named));
      store_number(s.type, *number, to);
      return require_range(s, to, fail);
    }
    if (s.hash > 0) {
      if (!is_utf8(field.text)) fail("is not valid UTF-8", "iconv converts files: iconv -f latin1 -t utf-8");
      return store_number(s.type, static_cast<double>(hashed(field.text, s.hash)), to);
    }
    if (!s.named) {
      const std::string fault = parse(s, place, field.text, s.type, to);
      if (!fault.empty()) fail(fault, help_of(s, place, field.text));
      return require_range(s, to, fail);
    }
    const bool is_other = listed == s.numbers.end() && !class_rule_.other.empty();
    const auto number = is_other ? s.numbers.find(class_rule_.other) : listed;
    if (number == s.numbers.end()) fail("is none of the classes", did_you_mean(field.text, s.names));
    store_number(s.type, static_cast<double>(number->second), to);
    require_range(s, to, fail);
  }

  static bool is_date(const Selection& s, size_t place) { return !s.parts.empty() && !s.parts[place].empty(); }

  std::string parse(const Selection& s, size_t place, std::string_view text, ElementType type, std::byte* to) const {
    if (is_date(s, place)) return parse_date_part(text, s.parts[place], type, to);
    return parse_cell(text, style_, type, to);
  }

  std::string help_of(const Selection& s, size_t place, std::string_view text) const {
    DateTime date;
    const bool reads = parse_date(text, date).empty();
    if (is_date(s, place)) return reads ? fmt::format("f32 takes {} of any date", s.parts[place]) : kDateHelp;
    std::string help = other_style(text, style_);
    if (!help.empty()) return help;
    if (reads && text.find('-') != std::string_view::npos)
      return fmt::format("\"dates\": {{\"{}\": [\"days\"]}} reads it", layout_.word(s.fields[place]));
    return is_name(text, s.type) ? numbers_names(s) : "";
  }

  // Whether a text is a name: it stands where a class number is expected and is not a number of any type.
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
  Location where_;
  std::filesystem::path root_;
  CsvLayout layout_;
  NumberStyle style_;
  MissingRule missing_;
  ClassRule class_rule_;
  TextColumns texts_;
  SoundColumns sounds_;
  std::optional<RowCondition> condition_;
  std::map<size_t, std::vector<std::string>> dates_;  // of fields: which parts of them
  std::vector<Selection> selections_;
};

std::vector<Key> keys() {
  std::vector<Key> all = {
      {.name = "file",
       .type = KeyType::path,
       .count = Count::several,
       .doc = "one or a list, in this order, plain or .gz; * stands for any part of a name",
       .required = true},
      {.name = "header", .type = KeyType::flag, .doc = "the first line names the columns", .fallback = true},
      where_key(),
      missing_key(),
      dates_key(),
      text_words_key(),
      sound_words_key()};
  const std::vector<Key> dialect = csv_dialect_keys(), classes = class_keys("columns");
  all.insert(all.end() - 2, classes.begin(), classes.end());
  all.insert(all.end() - 2, hash_key());
  all.insert(all.begin() + 2, dialect.begin(), dialect.end());
  all.insert(all.end(), text_keys().begin(), text_keys().end());
  all.insert(all.end(), sound_keys().begin(), sound_keys().end());
  return all;
}

const RegisterReader csv({
    .name = "csv",
    .doc = "text files of one header; an input is made of a column or of several, by name, index or as \"first:last\"",
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
