// Rows of a table of text, from a file or as a producer writes them.
//
// Which columns an input is made of says the model, where its data are csv, too: so do the dialect
// and the spelling of numbers, whether there is a header, and what stands for a missing value. Else a column has the
// name of an input of one element, or the columns, as many as a row has elements, are the one
// input's.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <memory>
#include <optional>

#include "runtime/data/csv_file.h"
#include "runtime/data/date_parts.h"
#include "runtime/data/hash_rule.h"
#include "runtime/data/missing_values.h"
#include "runtime/data/number_style.h"
#include "runtime/data/parse_number.h"
#include "runtime/data/printable.h"
#include "runtime/files/file.h"
#include "runtime/json_text.h"
#include "tools/predict/row_source.h"
#include "tools/predict/text_inputs.h"

namespace heddle::tools {
namespace {

using namespace runtime::data;  // NOLINT: this file speaks of little else

// What the model says of its tables.
struct Layout {
  const frontend::DataReader* reader = nullptr;  // nullptr: nothing
  const ReaderSetting* find(std::string_view key) const {
    return reader == nullptr ? nullptr : find_setting(reader->settings, key);
  }
};

Layout layout_of(const frontend::Data& data) {
  for (const auto* reader : {&data.test, &data.validation, &data.train})
    if (reader->has_value() && (*reader)->op == "csv") return {&**reader};
  return {};
}

CsvDialect dialect_of(const Layout& layout) {
  return layout.reader == nullptr ? CsvDialect() : csv_dialect(layout.reader->settings, layout.reader->where);
}

CsvFile open(const SourceRequest& asked, const CsvDialect& dialect) {
  if (asked.path == "-") return {STDIN_FILENO, asked.name(), {}, dialect};
  runtime::File(asked.path, O_RDONLY | O_NONBLOCK, 0, asked.path).size();  // a regular file, or it says so
  return {asked.path, asked.path, {}, dialect};
}

struct Selected {
  const driver::PredictInput* input = nullptr;
  size_t number = 0;  // of the predictor's inputs
  ElementType type = ElementType::f32;
  std::vector<size_t> fields;
  std::vector<std::string> parts;  // of the dates in them, "" of what is none; empty: none is one
  bool indicated = false;          // behind the fields' values stands which of them are missing
};

class CsvRows {
 public:
  CsvRows(const driver::Predictor& predictor, const SourceRequest& asked)
      : layout_(layout_of(predictor.data())),
        name_(asked.name()),
        file_(open(asked, dialect_of(layout_))),
        texts_(predictor, asked.inputs) {
    if (layout_.reader != nullptr) style_ = number_style(layout_.reader->settings);
    if (layout_.reader != nullptr) missing_ = missing_rule(layout_.reader->settings);
    if (!file_.next(first_)) throw UserError(ExitCode::failed, fmt::format("{}: the file is empty", name_));
    width_ = first_.size();
    for (const CsvField& field : first_) copies_.emplace_back(field.text);
    if (has_header()) titles_ = copies_;
    for (size_t i = 0; i < asked.inputs.size(); ++i) select(predictor, i, asked.inputs[i], asked.inputs.size());
  }

  int64_t fill(int64_t most, PredictRows& into) {
    for (const Selected& s : selected_) {
      Column& column = into.columns.at(s.number);
      column = {.input = s.input->request.input, .type = s.type, .dims = s.input->request.dims};
      column.bytes.resize(static_cast<size_t>(most * column.row_bytes()));
    }
    held_.rethrow();
    int64_t count = 0;
    for (bool more = true; count < most && (count == 0 || file_.ready()); ++count)
      if (!held_.try_row(count, [&] { more = next_row(count, into); }) || !more) break;
    return count;
  }

  std::vector<std::string> notes() const { return texts_.notes(); }

 private:
  // Where the model does not say it, the first line is a header if one of its fields is not a number.
  bool has_header() const {
    if (const ReaderSetting* header = layout_.find("header")) return std::get<bool>(header->value);
    if (layout_.reader != nullptr) return true;
    return std::ranges::any_of(copies_, [](const std::string& text) {
      double ignored = 0;
      return !is_missing(text) && !parse_number(text, ElementType::f64, reinterpret_cast<std::byte*>(&ignored)).empty();
    });
  }

  [[noreturn]] void refuse(const std::string& message, const std::string& help) const {
    throw UserError(ExitCode::failed, fmt::format("{}: {}", name_, message), help);
  }

  std::optional<size_t> find(std::string_view word) const {
    if (std::ranges::count(titles_, word) > 1)
      refuse(fmt::format("{} columns are called '{}'", std::ranges::count(titles_, word), printable(word)),
             "give each column a name of its own");
    const auto title = std::ranges::find(titles_, word);
    if (title != titles_.end()) return static_cast<size_t>(title - titles_.begin());
    size_t index = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), index);
    if (error == std::errc{} && end == word.data() + word.size() && index < width_) return index;
    return std::nullopt;
  }

  // A column, or "first:last".
  void add_word(const std::string& word, Selected& s) const {
    const size_t colon = word.find(':');
    const auto one = find(word);
    const auto first = one ? one : find(word.substr(0, colon));
    const auto last = one ? one : colon == std::string::npos ? std::nullopt : find(word.substr(colon + 1));
    if (!first || !last)
      refuse(fmt::format("there is no column '{}' for input '{}'", printable(word), s.input->request.input),
             titles_.empty() ? fmt::format("the file has {} columns, counted from 0", width_)
                             : frontend::suggest(word, titles_));
    if (*last < *first) refuse(fmt::format("'{}' ends before it begins", printable(word)), "exchange the columns");
    for (size_t i = *first; i <= *last; ++i) s.fields.push_back(i);
  }

  // A column of dates is a value for each part of them.
  void expand_dates(Selected& s) const {
    const ReaderSetting* dates = layout_.find("dates");
    if (dates == nullptr) return;
    std::map<size_t, std::vector<std::string>> of;
    for (const auto& [column, parts] : std::get<ClassNames>(dates->value))
      if (const auto field = find(column)) of[*field] = parts;
    std::vector<size_t> fields;
    for (const size_t f : s.fields) {
      const std::vector<std::string> parts = of.contains(f) ? of[f] : std::vector<std::string>{""};
      fields.insert(fields.end(), parts.size(), f);
      s.parts.insert(s.parts.end(), parts.begin(), parts.end());
    }
    s.fields = std::move(fields);
  }

  void select(const driver::Predictor& predictor, size_t place, size_t number, size_t inputs) {
    Selected s{.input = &predictor.inputs()[number], .number = number, .type = {}, .fields = {}, .parts = {}};
    const ColumnRequest& request = s.input->request;
    s.type = text_type(request);
    const int64_t elements = texts_.takes_text(place) ? 1 : elements_of(request.dims);
    const auto words = layout_.reader == nullptr ? std::vector<frontend::Named>{} : words_of(request.input);
    for (const frontend::Named& word : words) add_word(word.text, s);
    if (words.empty() && elements == 1 && std::ranges::count(titles_, request.input) > 0) {
      add_word(request.input, s);
    } else if (words.empty() && inputs == 1 && static_cast<int64_t>(width_) == elements) {
      for (size_t i = 0; i < width_; ++i) s.fields.push_back(i);
    }
    if (!texts_.takes_text(place)) expand_dates(s);
    s.indicated = !texts_.takes_text(place) && has_indicators(missing_, elements, std::ssize(s.fields));
    if (std::ssize(s.fields) != elements && !s.indicated) {
      const std::string has =
          words.empty() ? fmt::format("{} columns in the file", width_) : fmt::format("{} columns", s.fields.size());
      refuse(fmt::format("{}, but a row of input '{}' has {} elements", has, request.input, elements),
             elements == 1 ? fmt::format("a column called '{}' would fill it", request.input)
                           : "a file of its own for the input, with a column for each element, would fill it");
    }
    selected_.push_back(std::move(s));
  }

  std::vector<frontend::Named> words_of(const std::string& input) const {
    const auto found = layout_.reader->columns.find(input);
    return found == layout_.reader->columns.end() ? std::vector<frontend::Named>{} : found->second;
  }

  bool next_row(int64_t row, PredictRows& into) {
    const bool first_is_row = first_pending_ && titles_.empty();
    first_pending_ = false;
    if (!first_is_row && !file_.next(first_)) return false;
    if (first_.size() != width_)
      file_.fail(first_[0].line, first_[0].column,
                 fmt::format("{} fields, but the first line has {}", first_.size(), width_),
                 "every line has the same columns; quote a field that holds the delimiter");
    texts_.begin_row();
    const auto place_of = [&](const Selected& s) {
      Column& column = into.columns[s.number];
      return column.bytes.data() + row * column.row_bytes();
    };
    for (size_t i = 0; i < selected_.size(); ++i)
      if (texts_.takes_text(i)) put_text(i, place_of(selected_[i]));
    for (size_t i = 0; i < selected_.size(); ++i) {
      const Selected& s = selected_[i];
      std::byte* to = place_of(s);
      if (texts_.filled(i) || texts_.put_size(i, to)) continue;
      const int64_t size = size_of(s.type);
      for (size_t k = 0; k < s.fields.size(); ++k, to += size) store(s, k, to);
      if (!s.indicated) continue;
      for (const size_t f : s.fields) parse_number(is_missing(first_[f].text) ? "1" : "0", s.type, to), to += size;
    }
    return true;
  }

  void put_text(size_t i, std::byte* to) {
    const Selected& s = selected_[i];
    const size_t f = s.fields.at(0);
    if (!runtime::is_utf8(first_[f].text))
      fail(s, f, "is not valid UTF-8", "iconv converts files: iconv -f latin1 -t utf-8");
    texts_.put_text(i, first_[f].text, to, [&](size_t, const std::string& message, const std::string& help) {
      file_.fail(first_[f].line, first_[f].column, fmt::format("input '{}': {}", s.input->request.input, message),
                 help);
    });
  }

  [[noreturn]] void fail(const Selected& s, size_t f, const std::string& what, const std::string& help,
                         const std::vector<Diagnostic>& notes = {}) const {
    const CsvField& field = first_[f];
    const std::string title = titles_.empty() ? std::to_string(f) : "'" + printable(titles_[f]) + "'";
    file_.fail(
        field.line, field.column,
        fmt::format("column {} of input '{}': '{}' {}", title, s.input->request.input, printable(field.text), what),
        help, notes);
  }

  static bool is_date(const Selected& s, size_t place) { return !s.parts.empty() && !s.parts[place].empty(); }

  std::string missing_remedy(const Selected& s, bool named) const {
    if (missing_.fits(s.type, named))
      return fmt::format("the weights do not keep the {} that stands for it: train writes it there", missing_.word());
    return "write a value there, or say in the model's data what stands for missing ones: " +
           missing_help(missing_, named);
  }

  // The `place`-th value of a row.
  void store(const Selected& s, size_t place, std::byte* to) const {
    const size_t f = s.fields[place];
    const std::string_view text = first_[f].text;
    const std::vector<std::string>& names = s.input->request.class_names;
    auto name = std::ranges::find(names, text);
    if (name == names.end() && !is_missing(text) && !s.input->other.empty())
      name = std::ranges::find(names, s.input->other);
    std::string fault;
    if (name == names.end() && is_missing(text)) {
      const auto number = fill_of(missing_, s.input->request.fills, place, s.indicated);
      if (!number) fail(s, f, "is missing", missing_remedy(s, !names.empty()));
      fault = parse_number(fmt::format("{}", *number), s.type, to);
    } else if (s.input->hash > 0) {
      if (!runtime::is_utf8(text)) fail(s, f, "is not valid UTF-8", "iconv converts files: iconv -f latin1 -t utf-8");
      fault = parse_number(std::to_string(hashed(text, s.input->hash)), s.type, to);
    } else if (name != names.end()) {
      fault = parse_number(std::to_string(name - names.begin()), s.type, to);
    } else if (!names.empty()) {
      fail(s, f, "is none of the names that the weights know", frontend::suggest(text, names));
    } else if (is_date(s, place)) {
      fault = parse_date_part(text, s.parts[place], s.type, to);
    } else {
      fault = parse_cell(text, style_, s.type, to);
    }
    if (!fault.empty()) {
      const std::string help = is_date(s, place) ? kDateHelp : other_style(text, style_);
      fail(s, f, fault, help.empty() ? fmt::format("the input takes {}", s.input->request.dtype) : help);
    }
    fault = value_fault(s.input->request, s.type, to);
    if (!fault.empty()) fail(s, f, fault, "", s.input->request.bounded_by);
  }

  Layout layout_;
  std::string name_;
  CsvFile file_;
  NumberStyle style_;
  MissingRule missing_;
  std::vector<CsvField> first_;  // the record that was read last
  std::vector<std::string> copies_, titles_;
  size_t width_ = 0;
  bool first_pending_ = true;
  TextInputs texts_;
  HeldFault held_;
  std::vector<Selected> selected_;
};

}  // namespace

OpenedSource open_csv(const driver::Predictor& predictor, const SourceRequest& asked) {
  const auto rows = std::make_shared<CsvRows>(predictor, asked);
  return {asked.name(), asked.inputs, [rows](int64_t most, PredictRows& into) { return rows->fill(most, into); },
          [rows] { return rows->notes(); }};
}

}  // namespace heddle::tools
