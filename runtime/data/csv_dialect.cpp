#include "runtime/data/csv_dialect.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "ir/diagnostic.h"
#include "runtime/data/table.h"

namespace heddle::runtime::data {
namespace {

using Counts = std::array<int64_t, kDelimiters.size()>;

// The one character of a setting's text. Throws where it is not one ASCII character.
int character(const ReaderSetting& setting, const std::string& text, const std::string& what) {
  if (text.size() == 1 && std::string_view("\r\n").find(text[0]) == std::string_view::npos && text[0] != '\0')
    return static_cast<unsigned char>(text[0]);
  throw UserError(setting.where, fmt::format("csv: '{}' {}", setting.key, what),
                  !text.empty() && (text[0] & 0x80) != 0 ? "characters of ASCII are one byte, others are several" : "");
}

const std::string& text_of(const ReaderSetting& setting) {
  return std::get<std::vector<std::string>>(setting.value).at(0);
}

// Counts the delimiters of the record that begins at `at`, and moves `at` behind it. Returns false where the record is
// incomplete.
bool count_record(std::string_view text, size_t& at, bool whole, int quote, Counts& counts) {
  counts = {};
  bool quoted = false, begins = true;  // within quotation marks; where a field begins, in whatever dialect
  for (; at < text.size(); ++at) {
    const char c = text[at];
    const bool mark = static_cast<unsigned char>(c) == quote;
    if (mark && (quoted || begins)) {
      quoted = !quoted;
      begins = !quoted;  // a second mark is one that is doubled
      continue;
    }
    begins = false;
    if (quoted) continue;
    if (c == '\n') {
      ++at;
      return true;
    }
    const size_t which = kDelimiters.find(c);
    if (which == std::string_view::npos) continue;
    ++counts[which];
    begins = true;
  }
  return whole;
}

std::vector<Counts> count_records(std::string_view text, bool whole, const CsvDialect& dialect, size_t most) {
  std::vector<Counts> records;
  for (size_t at = 0; at < text.size() && records.size() < most;) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const bool comment = static_cast<unsigned char>(text[at]) == dialect.comment;
    if (comment || end == at || (end == at + 1 && text[at] == '\r')) {
      at = end + 1;
      continue;
    }
    Counts counts{};
    if (!count_record(text, at, whole, dialect.quote, counts)) break;
    records.push_back(counts);
  }
  return records;
}

}  // namespace

CsvDialect csv_dialect(const std::vector<ReaderSetting>& settings, const Location& where) {
  CsvDialect dialect;
  if (const ReaderSetting* s = find_setting(settings, "delimiter")) {
    const std::string& text = text_of(*s);
    dialect.delimiter =
        text == "auto" ? kTold : character(*s, text, "is one character, and no end of line, or \"auto\"");
  }
  if (const ReaderSetting* s = find_setting(settings, "quote"))
    dialect.quote = text_of(*s).empty()
                        ? kNoCharacter
                        : character(*s, text_of(*s), "is one character, and no end of line; \"\" is none");
  if (const ReaderSetting* s = find_setting(settings, "comment"))
    dialect.comment = character(*s, text_of(*s), "is one character, and no end of line");
  if (const ReaderSetting* s = find_setting(settings, "skip")) dialect.skip = std::get<int64_t>(s->value);
  if (const ReaderSetting* s = find_setting(settings, "decimal")) dialect.comma_divides = text_of(*s) != ",";
  const auto differ = [&](int a, int b, const char* first, const char* second) {
    if (a < 0 || a != b) return;
    const ReaderSetting* s = find_setting(settings, first);
    throw UserError(s == nullptr ? where : s->where,
                    fmt::format("csv: '{}' and '{}' are both '{}'", first, second, static_cast<char>(a)),
                    "each needs a character of its own");
  };
  differ(dialect.quote, dialect.delimiter, "quote", "delimiter");
  differ(dialect.comment, dialect.delimiter, "comment", "delimiter");
  differ(dialect.comment, dialect.quote, "comment", "quote");
  return dialect;
}

std::vector<Key> csv_dialect_keys() {
  return {
      {.name = "delimiter",
       .type = KeyType::text,
       .doc = "one character, or \"auto\": a tab, a semicolon, a bar or a comma, as the first lines have it",
       .fallback = std::string(",")},
      {.name = "quote",
       .type = KeyType::text,
       .doc = "what stands around a field that holds a delimiter; \"\" is none",
       .fallback = std::string("\"")},
      {.name = "comment", .type = KeyType::text, .doc = "what a line begins with that is no row, such as \"#\""},
      {.name = "skip",
       .type = KeyType::integer,
       .doc = "lines that stand before the header",
       .fallback = int64_t{0},
       .range = ir::kNotNegative},
      {.name = "decimal",
       .type = KeyType::text,
       .doc = "what stands before a number's fraction",
       .fallback = std::string("."),
       .words = {".", ","}},
      {.name = "thousands", .type = KeyType::text, .doc = "what stands between groups of three digits, such as \".\""},
  };
}

ToldDelimiter told_delimiter(std::string_view text, bool whole, const CsvDialect& dialect, size_t most) {
  const std::vector<Counts> records = count_records(text, whole, dialect, most);
  const size_t candidates = kDelimiters.size() - (dialect.comma_divides ? 0 : 1);
  const char only = dialect.comma_divides ? ',' : ';';  // of a table of one column
  size_t in_first = 0, last = 0;
  bool any = false;
  for (size_t c = 0; c < candidates; ++c) {
    if (static_cast<unsigned char>(kDelimiters[c]) == dialect.quote) continue;
    const auto has = [&](const Counts& counts) { return counts[c] > 0; };
    const auto as_first = [&](const Counts& counts) { return counts[c] == records[0][c]; };
    any = any || std::ranges::any_of(records, has);
    if (records.empty() || !has(records[0])) continue;
    if (std::ranges::all_of(records, as_first)) return {kDelimiters[c], records.size()};
    ++in_first, last = c;
  }
  if (in_first == 1) return {kDelimiters[last], records.size()};
  if (any || records.empty()) return {.delimiter = std::nullopt, .records = records.size()};
  return {only, records.size()};
}

std::string shown_delimiter(char delimiter) { return delimiter == '\t' ? "a tab" : fmt::format("'{}'", delimiter); }

}  // namespace heddle::runtime::data
