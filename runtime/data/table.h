// Table: the rows of a data set, one column per model input, in the types that the files store.
//
//   {"op": "idx", "x": "train-images.gz", "y": "train-labels.gz"} -> columns x: u8[28,28], y: u8[], 60000 rows
//
// Rows are converted when a step gathers its batch (codegen/feed_text.h). So MNIST takes 47 MB instead of 188 MB.
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ir/diagnostic.h"
#include "runtime/data/element.h"
#include "runtime/data/mapping.h"
#include "runtime/data/reader_def.h"

namespace heddle::runtime::data {

struct Column {
  std::string input;  // the model input that it feeds
  ElementType type = ElementType::u8;
  std::vector<int64_t> dims;  // of one row
  std::vector<std::byte> bytes = {};
  Mapping mapping = {};  // where it is not empty, it holds the rows, and `bytes` is empty
  int64_t row_elements() const;
  int64_t row_bytes() const { return row_elements() * size_of(type); }
  std::byte* writable() { return mapping.empty() ? bytes.data() : mapping.writable(); }  // not of a mapped file
  std::span<const std::byte> content() const { return mapping.empty() ? std::span(bytes) : mapping.bytes(); }
};

struct Table {
  int64_t rows = 0;
  std::vector<Column> columns;
  std::vector<std::string> notes = {};  // for the user: how many texts were cut
  // Rows are adjacent windows over a stream of tokens. In each epoch of a training, a row begins at a drawn offset,
  // less than a window later.
  bool drawn_offsets = false;
  const Column* find(const std::string& input) const;
};

// The source of an input: the name of a file or of a column, and where the model file says it.
struct Source {
  std::string text;
  Location where = {};
};

// One key of a reader in the model file.
struct ColumnRequest {
  std::string input;            // the model input
  std::vector<Source> sources;  // the key's value: one source or several
  std::string dtype;            // of the model input
  std::vector<int64_t> dims;    // of one row, before the maps that change its shape
  int64_t classes = 0;          // values lie in [0, classes), or are -100; 0: not a label
  bool one_hot = false;         // a map turns class numbers into one-hot rows of the last axis
  Location where;
  std::vector<std::string> class_names = {};  // found in the training rows, where the reader finds names
  bool cast = false;                          // floating values become integers where the input takes those
  bool looked_up = false;                     // its values are indices of a lookup, so -100 is not allowed
  std::string tokenizer = {};                 // for text: a tokenizer.json; empty: it is made from the rows
  int64_t first_row = 0;                    // the number of the first row, for messages, where a file is read in parts
  std::vector<Diagnostic> bounded_by = {};  // notes: where the number of classes comes from
  std::vector<double> fills = {};           // for missing values, per element of a row; empty: from the rows
  const std::string& source() const { return sources.at(0).text; }
  // Whether elements of the type are converted to integers when they are read.
  bool cuts(ElementType type) const;
};

// In bytes: a quarter of the machine's memory.
int64_t most_resident_bytes();

struct ReaderRequest {
  std::string op;
  std::vector<ColumnRequest> columns;
  std::vector<ReaderSetting> settings;
  Location where;
  int64_t resident = most_resident_bytes();  // larger columns lie in a temporary file, unless they are mapped
  // 1 for each row that does not train: names and vocabularies are not taken from it. nullptr: all rows train.
  std::shared_ptr<const std::vector<uint8_t>> held = nullptr;

  const ReaderSetting* find(std::string_view key) const;  // nullptr where it is not given
  Location place(std::string_view key) const;             // location of the setting, or of the reader
  // The setting's value, or the reader's default.
  ReaderValue value(std::string_view key) const;
  int64_t integer(std::string_view key) const { return std::get<int64_t>(value(key)); }
  bool flag(std::string_view key) const { return std::get<bool>(value(key)); }
  std::vector<std::string> texts(std::string_view key) const { return std::get<std::vector<std::string>>(value(key)); }
  std::string text(std::string_view key) const { return texts(key).at(0); }
};

// Allocates the column's room for `rows` rows: in memory, or in a mapped temporary file where it takes more than
// `resident` bytes. Returns where it begins.
std::byte* make_room(Column& column, int64_t rows, int64_t resident);

// Appends a column, allocates its room, and returns where its rows begin.
std::byte* add_column(Table& table, Column column, int64_t resident);

// A column for as many rows as `like` has, of another type, not yet filled.
Column with_room(const Column& like, ElementType type);

inline constexpr int64_t kIgnoreIndex = -100;

// What a reader knows from file headers, before it reads the rows.
struct TableHeader {
  int64_t rows = 0;
  std::vector<ElementType> types;                          // of the request's columns
  std::vector<std::vector<std::string>> class_names = {};  // of these columns; empty: no column has names
  bool names_found = false;                                // among the rows: those of the training rows hold for all
  std::vector<std::string> tokenizers = {};                // a tokenizer.json of each column; empty: no text
  bool tokens_found = false;                               // among the rows, as names_found
  std::vector<std::vector<double>> fills = {};             // fills for the missing values of each column
  bool fills_found = false;                                // among the rows, as names_found
  // Rows of `held` that have a name or a character that no training row has: one row for each, in ascending order.
  std::vector<int64_t> strange = {};
  std::vector<std::string> notes = {};  // for the user: which files were skipped
};
TableHeader read_table_header(const ReaderRequest& request, const std::filesystem::path& root);
// Reads or draws the rows. Throws UserError at the request's location.
Table read_table(const ReaderRequest& request, const std::filesystem::path& root);

// Row numbers have 31 bits.
inline constexpr int64_t kMostRows = (int64_t{1} << 31) - 1;

// For readers that have a file for each column: adds the next column of the request. Throws UserError where it has
// another number of rows than the columns before it.
void add_header(TableHeader& header, const ReaderRequest& request, int64_t rows, ElementType type);
void add_column(Table& table, const ReaderRequest& request, int64_t rows, Column column);

// Converts the column to another type, which must be able to hold the values. A floating type rounds them.
void convert(Column& column, ElementType type);

// Removes the last `rows` rows from `table` and returns them as a table.
Table split_tail(Table& table, int64_t rows);
// The same for the rows marked 1, in their order. Columns in memory or in a temporary file are compacted in place.
Table split_rows(Table& table, const std::vector<uint8_t>& marked, int64_t resident);

}  // namespace heddle::runtime::data
