// CsvLayout: the files and columns of a CSV table. All files must have the header of the first file.
//
//   {"file": "a-*.csv", "delimiter": "auto"}, a-1.csv "x;y\n1;2\n"
//     -> name() "a-1.csv", width() 2, find("y") = 1, add_fields("x:y") = 0, 1
#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/data/csv_dialect.h"
#include "runtime/data/csv_file.h"
#include "runtime/data/table.h"

namespace heddle::runtime::data {

class CsvLayout {
 public:
  // Reads the keys `file` and `header` and those of the dialect. Throws UserError where a file is absent or empty.
  CsvLayout(const ReaderRequest& request, const std::filesystem::path& root);

  const std::string& name() const { return files_[0].name; }  // of the first file
  bool has_header() const { return headed_; }
  CsvFile open(size_t file) const { return {files_[file].path, files_[file].name, where_, dialect_}; }
  // How "auto" found the delimiter: a note for the first file, and for each file whose delimiter differs from that of
  // the file before it.
  std::vector<std::string> notes() const;

  // Calls f(fields, row, file, number of the file) for each row. Returns the number of rows.
  template <class F>
  int64_t each_row(const F& f) const {
    std::vector<CsvField> fields;
    int64_t rows = 0;
    for (size_t number = 0; number < files_.size(); ++number) {
      CsvFile file = open(number);
      if (headed_) take_header(file, number, fields);
      for (; file.next(fields); ++rows) {
        if (fields.size() != width_) ragged(fields, file, number);
        f(fields, rows, file, number);
      }
    }
    return rows;
  }

  std::string title(size_t field) const;  // for messages: the name in quotes, or the index
  std::string word(size_t field) const;   // as `find` takes it
  // Finds a field by its name, else by its index. Throws UserError where several columns have the name.
  std::optional<size_t> find(std::string_view word, const Location& where) const;
  // Adds a column, or the columns of a range "first:last". Throws UserError where a column is unknown.
  void add_fields(const Source& source, std::vector<size_t>& fields) const;
  [[noreturn]] void unknown(const Source& source) const;

 private:
  struct File {
    std::string name;
    std::filesystem::path path;
  };
  struct Title {
    size_t field = 0, count = 0;  // the first field of that name, and how many have it
  };

  void find_files(const ReaderRequest& request, const std::filesystem::path& root);
  void read_titles();
  void take_header(CsvFile& file, size_t number, std::vector<CsvField>& fields) const;
  void require_header(const std::vector<CsvField>& fields, const CsvFile& file) const;
  [[noreturn]] void empty(size_t file) const;
  [[noreturn]] void ragged(const std::vector<CsvField>& fields, const CsvFile& file, size_t number) const;
  std::string order_of(size_t first, size_t last) const;
  std::string known_columns(const std::string& word) const;

  Location where_;
  CsvDialect dialect_;
  bool headed_;
  std::vector<File> files_;
  std::vector<std::string> titles_;  // empty without a header
  std::map<std::string, Title, std::less<>> places_;
  size_t width_ = 0;      // fields of a record
  char delimiter_ = ',';  // of the first file
  int64_t header_line_ = 0;
};

}  // namespace heddle::runtime::data
