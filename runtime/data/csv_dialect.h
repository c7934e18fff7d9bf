// The dialect of a CSV file: its delimiter, its quotes, and the lines that are not records.
//
//   {"delimiter": "auto", "skip": 2, "comment": "#"} -> {delimiter = told by the first lines, comment = '#', skip = 2}
//
// The reader `csv` and predictions take the dialect from the same settings.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "runtime/data/reader_def.h"

namespace heddle::runtime::data {

// Special values in place of a character.
inline constexpr int kNoCharacter = -2, kTold = -3;

struct CsvDialect {
  int delimiter = ',';         // kTold: the first lines say
  int quote = '"';             // kNoCharacter: fields are not quoted
  int comment = kNoCharacter;  // the character that begins a comment line
  int64_t skip = 0;            // lines before the first record
  bool comma_divides = true;   // false: commas are decimal marks, and "auto" does not try the comma
};

// The dialect that the settings of a reader at `where` state. Throws UserError where they do not go together.
CsvDialect csv_dialect(const std::vector<ReaderSetting>& settings, const Location& where);
// The keys of the dialect, and those of the number style (runtime/data/number_style.h).
std::vector<Key> csv_dialect_keys();

// The delimiters that "auto" tries, in this order.
inline constexpr std::string_view kDelimiters = "\t;|,";

inline constexpr size_t kToldRecords = 100;  // records that "auto" reads

struct ToldDelimiter {
  std::optional<char> delimiter;  // none: the records do not show it
  size_t records = 0;             // records that were read
};

// Finds the delimiter of a table that begins with `text`; `whole`: nothing follows. Reads at most `most` records.
// Returns the first delimiter that occurs in every record, and equally often in each. Else returns the delimiter of the
// first record, if it has only one kind. Where no record has any delimiter, returns a comma (a semicolon where commas
// are decimal marks). Else returns none.
//
//   "a;b\n1,5;2\n" -> ';'      "name,note\nx,\"1;2\"\n" -> ','      "text\na, b\n" -> none
ToldDelimiter told_delimiter(std::string_view text, bool whole, const CsvDialect& dialect, size_t most = kToldRecords);

// The delimiter as messages show it: "a tab", "';'".
std::string shown_delimiter(char delimiter);

}  // namespace heddle::runtime::data
