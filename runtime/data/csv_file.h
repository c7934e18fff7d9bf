// Reads a CSV file record by record. Fields are quoted as RFC 4180 says. The file is plain or compressed by gzip.
//
//   size,"name, long"        ->  {"size", line 1, column 1}, {"name, long", line 1, column 6}
//   4.5,"a ""b"""            ->  {"4.5", line 2, column 1}, {"a \"b\"", line 2, column 5}
//
// Lines end with a line feed, with or without a carriage return before it. Empty lines between records, comments and
// the lines that the dialect skips are left out, and so is a byte order mark at the beginning. Everything else that RFC
// 4180 does not allow is an error at its line and column.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "ir/diagnostic.h"
#include "runtime/data/csv_dialect.h"
#include "runtime/data/input_file.h"

namespace heddle::runtime::data {

struct CsvField {
  std::string_view text;
  int64_t line = 0, column = 0;  // of its first byte, counted from 1
};

inline constexpr size_t kMaxCsvRecord = size_t{1} << 24;  // bytes
inline constexpr size_t kMaxCsvFields = 100'000;

class CsvFile {
 public:
  CsvFile(const std::filesystem::path& file, const std::string& name, const Location& where, const CsvDialect& dialect);
  // Reads from a descriptor as the bytes come (runtime/data/input_file.h).
  CsvFile(int descriptor, const std::string& name, const Location& where, const CsvDialect& dialect);

  // Reads the next record, which has at least one field. Returns false at the end. The fields' texts stay valid until
  // the next call.
  bool next(std::vector<CsvField>& fields);
  // Whether `next` returns without waiting for a producer: the rest of a line has been read, or the input has ended.
  bool ready();
  [[noreturn]] void fail(int64_t line, int64_t column, const std::string& message, const std::string& help = {},
                         const std::vector<Diagnostic>& notes = {}) const;
  // The delimiter, also where "auto" found it.
  char delimiter() const { return static_cast<char>(delimiter_); }

 private:
  void begin(const CsvDialect& dialect);
  void skip_lines(int64_t count);
  void tell_delimiter(const CsvDialect& dialect);
  bool more();
  bool skip_line();  // whether there was one
  bool comment_line();
  int peek();  // -1 at the end of the file
  void take();
  void skip_mark();
  bool end_line();  // whether there was one
  void read_plain();
  void read_quoted();
  void add(char c);

  InputFile in_;
  std::string name_;
  Location where_;
  int delimiter_ = ',', quote_ = '"', comment_ = kNoCharacter;
  bool streamed_ = false;
  std::vector<char> buffer_;
  size_t at_ = 0, end_ = 0;
  int64_t line_ = 1, column_ = 1;
  std::string text_;  // texts of the record's fields, one after another
  std::vector<size_t> begins_;
};

}  // namespace heddle::runtime::data
