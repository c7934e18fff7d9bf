// How a table of text is written: what separates and quotes its fields, and which of its lines are no records.
//
//   {"delimiter": "auto", "skip": 2, "comment": "#"} -> {delimiter = told by the first lines, comment = '#', skip = 2}
//
// The reader of tables and predictions take it from the same settings.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "runtime/data/reader_def.h"

namespace heddle::runtime::data {

// In place of a character.
inline constexpr int kNoCharacter = -2, kTold = -3;

struct CsvDialect {
  int delimiter = ',';         // kTold: the first lines say
  int quote = '"';             // kNoCharacter: fields are not quoted
  int comment = kNoCharacter;  // what a line that is no record begins with
  int64_t skip = 0;            // lines before the first record
  bool comma_divides = true;   // false: it stands within numbers, and the first lines are not asked for it
};

// Of the settings of a reader at `where`. UserError where they do not go together.
CsvDialect csv_dialect(const std::vector<ReaderSetting>& settings, const Location& where);
// The keys of that, and of how numbers are spelled (runtime/data/number_style.h).
std::vector<Key> csv_dialect_keys();

// The characters that "auto" tells apart, the first that fits is taken.
inline constexpr std::string_view kDelimiters = "\t;|,";

inline constexpr size_t kToldRecords = 100;  // that are looked at

struct ToldDelimiter {
  std::optional<char> delimiter;  // none: the records do not tell it
  size_t records = 0;             // that were looked at
};

// Of a table that begins with `text`, `whole` if nothing follows: the first delimiter of which all
// records, `most` of them, have the same number, one or more; else the only one that the first
// record has; a comma where no record has any.
//
//   "a;b\n1,5;2\n" -> ';'      "name,note\nx,\"1;2\"\n" -> ','      "text\na, b\n" -> none
ToldDelimiter told_delimiter(std::string_view text, bool whole, const CsvDialect& dialect, size_t most = kToldRecords);

// As a message shows it: "a tab", "';'".
std::string shown_delimiter(char delimiter);

}  // namespace heddle::runtime::data
