// Rows of a file with a JSON object on each line.
//
//   {"text": "good film", "stars": 4, "parts": [[0.5, 1], [2, 3]]}
//     with "x": "text", "y": "stars", "text": {"x": "characters"} -> x: ids of the characters, y: 4
//   {"size": [2, null]} with "missing": "mean" -> the mean of the training rows' second number
//   {"wav": "clips/7.wav", "text": "one two"}
//     with "x": "wav", "sound": {"x": "log_mel"} -> x: features of the sound in that file
#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <set>

#include "runtime/data/check_column.h"
#include "runtime/data/class_rule.h"
#include "runtime/data/hash_rule.h"
#include "runtime/data/input_file.h"
#include "runtime/data/missing_values.h"
#include "runtime/data/parse_number.h"
#include "runtime/data/path.h"
#include "runtime/data/printable.h"
#include "runtime/data/row_condition.h"
#include "runtime/data/sound_columns.h"
#include "runtime/data/text_columns.h"
#include "runtime/data/text_file.h"
#include "runtime/text/json_tree.h"

namespace heddle::runtime::data {
namespace {

namespace fs = std::filesystem;
using text::JsonTree;
using text::JsonValue;

constexpr size_t kMostClasses = 100'000;

std::vector<std::string> sources_of(const ReaderRequest& request) {
  std::vector<std::string> sources;
  for (const ColumnRequest& column : request.columns) sources.push_back(column.source());
  return sources;
}

// A line of the file, with functions that throw errors at a place in it.
struct Line {
  const TextFile& file;
  size_t file_number = 0;
  int64_t number = 0;
  const SourceFile& source;  // the line alone
  [[noreturn]] void fail(const JsonValue& value, const std::string& message, const std::string& help = {},
                         const std::vector<Diagnostic>& notes = {}) const {
    file.fail(number, static_cast<int64_t>(value.where().begin) + 1, message, help, notes);
  }
  std::string_view text(const JsonValue& value) const {
    const Location where = value.where();
    return std::string_view(source.text).substr(where.begin, where.end - where.begin);
  }
};

// Where the next element of a row goes.
struct Target {
  ElementType type = ElementType::f32;
  std::byte* to = nullptr;
  size_t place = 0;        // of the value
  bool indicated = false;  // behind the values stands which of them are missing
};

class JsonLines {
 public:
  JsonLines(const ReaderRequest& request, const fs::path& root)
      : request_(request),
        root_(root),
        where_(request.place("file")),
        missing_(missing_rule(request.settings)),
        class_rule_(class_rule(request.settings)),
        texts_(request, text_settings(request), text_words(request), sources_of(request)),
        sounds_(request, sound_words(request), sources_of(request)) {
    for (const std::string& pattern : request.texts("file"))
      for (std::string& name : matching(root, pattern, where_)) files_.push_back(std::move(name));
    if (const ReaderSetting* where = request.find("where"))
      condition_.emplace(std::get<std::vector<std::string>>(where->value).at(0), where->where,
                         [&](const std::string& key, const Location& place) {
                           const auto known = std::ranges::find(asked_, key, &Source::text);
                           if (known != asked_.end()) return static_cast<size_t>(known - asked_.begin());
                           asked_.push_back({key, place});
                           return asked_.size() - 1;
                         });
    for (size_t i = 0; i < request.columns.size(); ++i) {
      stated_.push_back(stated_names(i));
      fills_.push_back(request.columns[i].fills);
      hashes_.push_back(hash_ids(request, request.columns[i]));
    }
  }

  TableHeader header() {
    TableHeader out;
    std::vector<FoundNames> found(request_.columns.size()), held(request_.columns.size());
    std::vector<size_t> values(request_.columns.size());  // of the longest rows, where they are looked at
    FillFitter fitter(missing_, request_.resident);
    const int64_t all = each_row([&](const JsonValue& row, const Line& line) {
      const bool trains = request_.held == nullptr || request_.held->at(static_cast<size_t>(out.rows)) == 0;
      for (size_t i = 0; i < request_.columns.size(); ++i) {
        if (texts_.is_text(i)) texts_.collect(i, require_text(i, row, line), out.rows);
        if (stated_[i] && stated_[i]->empty()) collect(i, row, line, out.rows, trains ? found[i] : held[i]);
        if (trains && is_fitted(i)) values[i] = std::max(values[i], fit(i, require_value(i, row, line), line, fitter));
      }
      ++out.rows;
    });
    if (all == 0) throw UserError(where_, fmt::format("{}: no rows", files_[0]), kNoRowsHelp);
    if (condition_)
      if (const std::string told = left_out_note(*condition_, files_[0], out.rows, all); !told.empty())
        out.notes.push_back(told);
    require_text_room(request_, out.rows);
    std::set<int64_t> strange;
    for (size_t i = 0; i < request_.columns.size(); ++i) {
      out.class_names.push_back(stated_[i].value_or(std::vector<std::string>()));
      if (stated_[i] && stated_[i]->empty()) {
        out.names_found = true;
        out.class_names.back() = class_rule_.classes(found[i]);
        for (const auto& [name, of] : held[i])
          if (!found[i].contains(name) && class_rule_.other.empty()) strange.insert(of.row);
      }
      out.types.push_back(is_of_sound(i) ? sounds_.type(i) : own_type(i));
      if (is_fitted(i)) {
        const int64_t elements = elements_of(request_.columns[i].dims);
        const bool half = has_indicators(missing_, elements, static_cast<int64_t>(values[i]));
        fills_[i] = fitter.finish(i, half ? values[i] : static_cast<size_t>(elements), request_.columns[i].input);
        out.fills_found = true;
      }
      out.fills.push_back(fills_[i]);
    }
    out.strange.assign(strange.begin(), strange.end());
    texts_.finish(out, root_);
    return out;
  }

  Table read() {
    const TableHeader head = header();
    for (size_t i = 0; i < stated_.size(); ++i)
      if (stated_[i]) stated_[i] = head.class_names[i];
    Table table{.rows = head.rows, .columns = {}};
    std::vector<std::byte*> to;
    for (size_t i = 0; i < head.types.size(); ++i) {
      const ColumnRequest& asked = request_.columns[i];
      const auto dims = texts_.is_size(i) || sounds_.is_size(i) ? std::vector<int64_t>() : asked.dims;
      to.push_back(add_column(table, {.input = asked.input, .type = head.types[i], .dims = dims}, request_.resident));
    }
    int64_t rows = 0;
    std::vector<SoundPlace> sounds;
    each_row([&](const JsonValue& row, const Line& line) {
      if (rows++ >= table.rows) changed();
      for (size_t i = 0; i < to.size(); ++i) {
        if (!texts_.is_text(i)) continue;
        const JsonValue value = require_value(i, row, line);
        texts_.encode(i, require_text(i, row, line), [&](size_t, const std::string& message, const std::string& help) {
          line.fail(value, fmt::format("input '{}': {}", request_.columns[i].input, message), help);
        });
      }
      for (size_t i = 0; i < to.size(); ++i) {
        Column& column = table.columns[i];
        if (texts_.is_text(i) || texts_.is_size(i)) {
          texts_.store(i, column.type, to[i]);
        } else if (is_of_sound(i)) {
          if (sounds_.is_sound(i)) sounds.push_back(sound_of(i, row, rows - 1, line));
        } else {
          Target target{.type = column.type, .to = to[i]};
          fill_row(i, require_value(i, row, line), line, target);
        }
        to[i] += column.row_bytes();
      }
    });
    if (rows != table.rows) changed();
    sounds_.read(sounds, root_, where_, table, [&](const SoundPlace& sound, const UserError& error) {
      const Diagnostic& first = error.diagnostics().front();
      TextFile(root_, files_[sound.file], where_).fail(sound.line, sound.column_in_line, first.message, first.help);
    });
    for (const std::string& note : sounds_.notes()) table.notes.push_back(fmt::format("{}: {}", files_[0], note));
    for (const std::string& note : texts_.notes()) table.notes.push_back(fmt::format("{}: {}", files_[0], note));
    return table;
  }

  // A hash of each row's value of a key, which need feed no input.
  std::vector<uint64_t> values(const Source& key) const {
    std::vector<uint64_t> hashes;
    each_row([&](const JsonValue& row, const Line& line) {
      const std::optional<JsonValue> value = row.find(key.text);
      if (!value) line.fail(row, fmt::format("the key '{}' is missing", printable(key.text)));
      // A text is hashed without its escapes, so that equal texts have equal hashes.
      const bool is_text = value->kind() == JsonValue::Kind::text;
      const std::string text = is_text ? value->text("a name") : std::string(line.text(*value));
      hashes.push_back(XXH3_64bits_withSeed(text.data(), text.size(), is_text ? 1 : 0));
    });
    return hashes;
  }

 private:
  [[noreturn]] void changed() const { throw UserError(where_, files_[0] + ": changed while it was read"); }

  bool is_of_sound(size_t i) const { return sounds_.is_sound(i) || sounds_.is_size(i); }

  SoundPlace sound_of(size_t i, const JsonValue& row, int64_t number, const Line& line) const {
    const JsonValue value = require_value(i, row, line);
    if (value.kind() != JsonValue::Kind::text)
      line.fail(value, fmt::format("input '{}' is sound, expected the path of a wav file, found {}",
                                   request_.columns[i].input, text::describe(value.kind())));
    return {.column = i,
            .row = number,
            .name = value.text("a path"),
            .file = line.file_number,
            .line = line.number,
            .column_in_line = static_cast<int64_t>(value.where().begin) + 1};
  }

  // For a column of classes: the names that the model states or the training rows have given; empty where they must be
  // found.
  std::optional<std::vector<std::string>> stated_names(size_t i) const {
    const ReaderSetting* setting = request_.find("classes");
    if (setting == nullptr) return std::nullopt;
    const auto& all = std::get<ClassNames>(setting->value);
    const auto names = all.find(request_.columns[i].input);
    if (names == all.end()) return std::nullopt;
    if (is_floating(filled_type(request_.columns[i])))
      throw UserError(setting->where, fmt::format("input '{}' is {}: classes are numbered by integers",
                                                  request_.columns[i].input, request_.columns[i].dtype));
    return names->second.empty() ? request_.columns[i].class_names : names->second;
  }

  ElementType own_type(size_t i) const {
    const ColumnRequest& column = request_.columns[i];
    return column.one_hot ? ElementType::i32 : filled_type(column);
  }

  // Calls each(row, line) for every selected row, and returns their number. Errors in a line name its place in the
  // file.
  template <class F>
  int64_t each_row(const F& each) const {
    std::set<size_t> seen;  // of the keys that the condition asks for
    int64_t all = 0;
    for (size_t f = 0; f < files_.size(); ++f) {
      const std::string& name = files_[f];
      const TextFile file(root_, name, where_);
      file.each_line([&](const TextLine& text) {
        if (text.text.find_first_not_of(" \t") == std::string_view::npos) return;
        const SourceFile alone{name, std::string(text.text)};
        const Line line{file, f, text.number, alone};
        try {
          const JsonTree tree(alone);
          const JsonValue row = tree.root();
          if (row.kind() != JsonValue::Kind::object)
            line.fail(row, fmt::format("expected an object, found {}", text::describe(row.kind())),
                      "a line is {\"KEY\": VALUE, ...}");
          ++all;
          if (is_read(row, line, seen)) each(row, line);
        } catch (const UserError& error) {
          const Diagnostic& first = error.diagnostics().front();
          if (first.where.file != &alone) throw;
          file.fail(text.number, static_cast<int64_t>(first.where.begin) + 1, first.message, first.help);
        }
      });
    }
    for (size_t i = 0; i < asked_.size() && all > 0; ++i)
      if (!seen.contains(i))
        throw UserError(asked_[i].where,
                        fmt::format("{}: no row has the key '{}'", files_[0], printable(asked_[i].text)),
                        "an expression names keys of the rows' objects");
    return all;
  }

  bool is_read(const JsonValue& row, const Line& line, std::set<size_t>& seen) const {
    if (!condition_) return true;
    const auto fail = [&](const JsonValue& value, size_t key, const std::string& what, const std::string& help) {
      line.fail(
          value,
          fmt::format("'where': the key '{}': {} {}", printable(asked_[key].text), printable(line.text(value)), what),
          help);
    };
    for (size_t i = 0; i < asked_.size(); ++i)
      if (row.find(asked_[i].text)) seen.insert(i);
    const auto find = [&](size_t key) {
      const std::optional<JsonValue> value = row.find(asked_[key].text);
      if (!value)
        line.fail(row, fmt::format("'where': the key '{}' is missing", printable(asked_[key].text)),
                  missing_condition_help(asked_[key].text));
      if (value->is_null()) fail(*value, key, "is missing", missing_condition_help(asked_[key].text));
      return *value;
    };
    return condition_->holds({.number =
                                  [&](size_t key) {
                                    const JsonValue value = find(key);
                                    if (value.kind() == JsonValue::Kind::flag) return value.flag("a flag") ? 1.0 : 0.0;
                                    double number = 0;
                                    auto* const to = reinterpret_cast<std::byte*>(&number);
                                    const bool is_text = value.kind() == JsonValue::Kind::text;
                                    if (value.kind() != JsonValue::Kind::number)
                                      fail(value, key, "is no number",
                                           is_text ? text_condition_help(asked_[key].text, value.text("a text")) : "");
                                    if (const std::string fault = parse_number(line.text(value), ElementType::f64, to);
                                        !fault.empty())
                                      fail(value, key, fault, "");
                                    return number;
                                  },
                              .text =
                                  [&](size_t key) {
                                    const JsonValue value = find(key);
                                    if (value.kind() != JsonValue::Kind::text)
                                      fail(value, key, "is no text", "a number stands in no quotes");
                                    return value.text("a text");
                                  },
                              .missing =
                                  [&](size_t key) {
                                    const std::optional<JsonValue> value = row.find(asked_[key].text);
                                    return !value || value->is_null();
                                  },
                              .fail = [&](const std::string& message) { line.fail(row, "'where': " + message); }});
  }

  JsonValue require_value(size_t i, const JsonValue& row, const Line& line) const {
    const std::string& key = request_.columns[i].source();
    if (const std::optional<JsonValue> value = row.find(key)) {
      for (auto member = value->next(); member; member = member->next())
        if (member->key() == key)
          line.fail(*member, fmt::format("the key '{}' is given twice", printable(key)), "remove one of them");
      return *value;
    }
    std::vector<std::string> keys;
    for (auto member = row.first(); member; member = member->next()) keys.push_back(member->key());
    line.fail(row, fmt::format("the key '{}' of input '{}' is missing", printable(key), request_.columns[i].input),
              did_you_mean(key, keys));
  }

  std::string require_text(size_t i, const JsonValue& row, const Line& line) const {
    const JsonValue value = require_value(i, row, line);
    if (value.kind() != JsonValue::Kind::text)
      line.fail(value, fmt::format("input '{}' is made of text, found {}", request_.columns[i].input,
                                   text::describe(value.kind())));
    return value.text("a text");
  }

  void collect(size_t i, const JsonValue& row, const Line& line, int64_t number, FoundNames& found) const {
    const JsonValue value = require_value(i, row, line);
    if (value.kind() != JsonValue::Kind::text) return;  // refused where it is read
    const std::string name = value.text("a name");
    if (found.size() == kMostClasses && !found.contains(name))
      line.fail(value,
                fmt::format("'{}' has more than {} different names", request_.columns[i].source(), kMostClasses));
    ++found.emplace(name, FoundName{.row = number, .count = 0}).first->second.count;
  }

  // Whether the fills of the input must be computed from the training rows, because no weights have them.
  bool is_fitted(size_t i) const {
    return missing_.fits() && missing_.fits(own_type(i), stated_[i].has_value()) && request_.columns[i].fills.empty() &&
           !texts_.is_text(i) && !texts_.is_size(i) && !is_of_sound(i);
  }

  // Returns the number of values, in lists of any nesting. Values that are not numbers are reported when rows are read.
  size_t fit(size_t i, const JsonValue& value, const Line& line, FillFitter& fitter, size_t place = 0) const {
    if (value.kind() == JsonValue::Kind::list) {
      for (auto item = value.first(); item; item = item->next()) place = fit(i, *item, line, fitter, place);
      return place;
    }
    double number = value.kind() == JsonValue::Kind::flag && value.flag("a flag") ? 1 : 0;
    auto* const to = reinterpret_cast<std::byte*>(&number);
    const bool is_number =
        value.kind() == JsonValue::Kind::number && parse_number(line.text(value), ElementType::f64, to).empty();
    const bool fits = static_cast<int64_t>(place) < elements_of(request_.columns[i].dims);
    if (fits && (is_number || value.kind() == JsonValue::Kind::flag)) fitter.add(i, place, number);
    return place + 1;
  }

  void fill_row(size_t i, const JsonValue& value, const Line& line, Target& target) const {
    const bool list = value.kind() == JsonValue::Kind::list;
    const bool nested = list && value.size() > 0 && value.first()->kind() == JsonValue::Kind::list;
    const int64_t values = list ? static_cast<int64_t>(value.size()) : 1;
    if (nested || !has_indicators(missing_, elements_of(request_.columns[i].dims), values))
      return fill(i, value, line, 0, target);
    target.indicated = true;
    const auto each = [&](const auto& f) {
      if (!list) return f(value);
      for (auto item = value.first(); item; item = item->next()) f(*item);
    };
    each([&](const JsonValue& item) { element(i, item, line, target); });
    each([&](const JsonValue& item) {
      parse_number(item.is_null() ? "1" : "0", target.type, target.to);
      target.to += size_of(target.type);
    });
  }

  // Lists are nested as the row's shape is, or flat.
  void fill(size_t i, const JsonValue& value, const Line& line, size_t axis, Target& target) const {
    const std::vector<int64_t>& dims = request_.columns[i].dims;
    if (value.kind() != JsonValue::Kind::list) {
      for (size_t d = axis; d < dims.size(); ++d)
        if (dims[d] != 1) wrong_shape(i, value, line, fmt::format("a list of {}", dims[d]));
      return element(i, value, line, target);
    }
    const std::optional<JsonValue> first = value.first();
    const bool flat = axis == 0 && value.size() == elements_of(dims) && first && first->kind() != JsonValue::Kind::list;
    if (!flat && (axis == dims.size() || value.size() != dims[axis]))
      wrong_shape(i, value, line, axis == dims.size() ? "one value" : fmt::format("a list of {}", dims[axis]));
    for (auto item = first; item; item = item->next())
      flat ? element(i, *item, line, target) : fill(i, *item, line, axis + 1, target);
  }

  [[noreturn]] void wrong_shape(size_t i, const JsonValue& value, const Line& line, const std::string& wanted) const {
    const std::string found = value.kind() == JsonValue::Kind::list ? fmt::format("a list of {}", value.size())
                                                                    : std::string(text::describe(value.kind()));
    line.fail(value, fmt::format("input '{}': expected {}, found {}", request_.columns[i].input, wanted, found));
  }

  void element(size_t i, const JsonValue& value, const Line& line, Target& target) const {
    const ColumnRequest& column = request_.columns[i];
    const ElementType type = target.type;
    std::byte* const to = target.to;
    const size_t place = target.place++;
    const auto refuse = [&](const std::string& what, const std::string& help = {},
                            const std::vector<Diagnostic>& notes = {}) {
      line.fail(value, fmt::format("input '{}': {} {}", column.input, printable(line.text(value)), what), help, notes);
    };
    std::string fault;
    if (value.is_null() && has_rule()) {
      const std::optional<double> number = fill_of(missing_, fills_[i], place, target.indicated);
      if (!number) refuse("is missing", missing_help(missing_, stated_[i].has_value()));
      fault = parse_number(fmt::format("{}", *number), type, to);
    } else if (hashes_[i] > 0) {
      if (value.kind() != JsonValue::Kind::text) refuse("is no text, and a hash is one of a text");
      fault = parse_number(std::to_string(hashed(value.text("a text"), hashes_[i])), type, to);
    } else if (stated_[i]) {
      if (value.kind() != JsonValue::Kind::text)
        refuse("is no name of a class", "names stand in quotes; numbers of classes need no \"classes\"");
      const std::string name = value.text("a name");
      auto found = std::ranges::find(*stated_[i], name);
      if (found == stated_[i]->end() && !class_rule_.other.empty())
        found = std::ranges::find(*stated_[i], class_rule_.other);
      if (found == stated_[i]->end()) refuse("is none of the classes", did_you_mean(name, *stated_[i]));
      fault = parse_number(std::to_string(found - stated_[i]->begin()), type, to);
    } else if (value.kind() == JsonValue::Kind::number) {
      fault = parse_number(line.text(value), type, to);
    } else if (value.kind() == JsonValue::Kind::flag) {
      fault = parse_number(value.flag("a flag") ? "1" : "0", type, to);
    } else {
      refuse("is no number",
             value.kind() == JsonValue::Kind::text
                 ? fmt::format("\"classes\": {{\"{0}\": \"sorted\"}} numbers names; \"text\": {{\"{0}\": "
                               "\"characters\"}} reads text",
                               column.input)
             : value.is_null() ? missing_help(missing_, false)
                               : "");
    }
    if (!fault.empty()) refuse(fault);
    if (!is_floating(type)) {
      const int64_t number = visit(type, [&](auto element) {
        std::memcpy(&element, to, sizeof element);
        return static_cast<int64_t>(element);
      });
      const std::string outside = range_fault(column, number);
      if (!outside.empty()) refuse("is out of range: " + outside, "", column.bounded_by);
    }
    target.to += size_of(type);
  }

  bool has_rule() const { return missing_.fill != MissingRule::Fill::none || missing_.indicator; }

  const ReaderRequest& request_;
  fs::path root_;
  Location where_;
  MissingRule missing_;
  ClassRule class_rule_;
  TextColumns texts_;
  SoundColumns sounds_;
  std::vector<std::string> files_;
  std::optional<RowCondition> condition_;
  std::vector<Source> asked_;                                    // the keys that the condition names
  std::vector<std::optional<std::vector<std::string>>> stated_;  // by column; empty names: to be found
  std::vector<int64_t> hashes_;             // by column: how many numbers its texts become; 0: they do not
  std::vector<std::vector<double>> fills_;  // by column, where the training rows or the weights say
};

std::vector<Key> keys() {
  std::vector<Key> all = {{.name = "file",
                           .type = KeyType::path,
                           .count = Count::several,
                           .doc = "one or a list, in this order, plain or .gz; * stands for any part of a name",
                           .required = true},
                          where_key(),
                          missing_key(),
                          text_words_key(),
                          sound_words_key()};
  const std::vector<Key> classes = class_keys("values");
  all.insert(all.end() - 2, classes.begin(), classes.end());
  all.insert(all.end() - 2, hash_key());
  all.insert(all.end(), text_keys().begin(), text_keys().end());
  all.insert(all.end(), sound_keys().begin(), sound_keys().end());
  return all;
}

const RegisterReader json_lines({
    .name = "json_lines",
    .doc = "a JSON object on each line; an input is the value of a key: numbers, a class's name, text, or the path "
           "of a wav file",
    .keys = keys(),
    .header = [](const ReaderRequest& request, const fs::path& root) { return JsonLines(request, root).header(); },
    .read = [](const ReaderRequest& request, const fs::path& root) { return JsonLines(request, root).read(); },
    .values = [](const ReaderRequest& request, const fs::path& root,
                 const Source& key) { return JsonLines(request, root).values(key); },
});

}  // namespace
}  // namespace heddle::runtime::data
