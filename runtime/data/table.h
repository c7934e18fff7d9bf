// Tables: the rows of a data set, in the type the file stores, one column per model input.
//
//   {"op": "idx", "x": "train-images.gz", "y": "train-labels.gz"} -> columns x: u8[28,28], y: u8[], 60000 rows
//
// Rows are converted only when a step gathers its batch (codegen/feed.h): MNIST stays 47 MB instead of 188.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "ir/diagnostic.h"
#include "runtime/data/element.h"

namespace heddle::runtime::data {

struct Column {
  std::string input;  // the model input that it feeds
  ElementType type = ElementType::u8;
  std::vector<int64_t> dims;  // of one row
  std::vector<std::byte> bytes;
  int64_t row_elements() const;
  int64_t row_bytes() const { return row_elements() * size_of(type); }
};

struct Table {
  int64_t rows = 0;
  std::vector<Column> columns;
  const Column* find(const std::string& input) const;
};

// One key of a reader in the model file.
struct ColumnRequest {
  std::string input;          // the model input
  std::string source;         // a file name (idx) or what to draw (synthetic: "image" or "label")
  std::string dtype;          // of the model input
  std::vector<int64_t> dims;  // of one row of the model input
  int64_t classes = 0;        // values lie in [0, classes), or are -100; 0: not a label
  bool one_hot = false;       // a map turns class numbers into rows of `dims`
  Location where;
};

struct ReaderRequest {
  std::string op;  // "idx" or "synthetic"
  std::vector<ColumnRequest> columns;
  int64_t rows = 0, seed = 0;  // synthetic only
  Location where;
};

inline constexpr int64_t kIgnoreIndex = -100;

// What file headers alone say.
struct TableHeader {
  int64_t rows = 0;
  std::vector<ElementType> types;  // of the request's columns
};
TableHeader read_table_header(const ReaderRequest& request, const std::filesystem::path& root);
// Reads or draws the rows; throws UserError at the request's place.
Table read_table(const ReaderRequest& request, const std::filesystem::path& root);

// The same values as elements of another type, which must be able to hold them: rounded where that is floating.
void convert(Column& column, ElementType type);

// The last `rows` rows as a table of their own, removed from `table`.
Table split_tail(Table& table, int64_t rows);

}  // namespace heddle::runtime::data
