// Tables: the rows of a data set, in the type the file stores, one column per model input.
//
//   {"op": "idx", "x": "train-images.gz", "y": "train-labels.gz"} -> columns x: u8[28,28], y: u8[], 60000 rows
//
// Rows are converted only when a step gathers its batch (codegen/feed_text.h): MNIST stays 47 MB instead of 188.
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
  Mapping mapping = {};  // where it is not empty, of the rows, and `bytes` is empty
  int64_t row_elements() const;
  int64_t row_bytes() const { return row_elements() * size_of(type); }
  std::byte* writable() { return mapping.empty() ? bytes.data() : mapping.writable(); }  // of rows that were made
  std::span<const std::byte> content() const { return mapping.empty() ? std::span(bytes) : mapping.bytes(); }
};

struct Table {
  int64_t rows = 0;
  std::vector<Column> columns;
  std::vector<std::string> notes = {};  // what a user should know of them: how many texts were cut
  // Rows are windows side by side over a stream. In each epoch of a training a row begins up to a window later.
  bool drawn_offsets = false;
  const Column* find(const std::string& input) const;
};

// What an input is made of: a file's name, or a column's, where the model file says it.
struct Source {
  std::string text;
  Location where = {};
};

// One key of a reader in the model file.
struct ColumnRequest {
  std::string input;            // the model input
  std::vector<Source> sources;  // what the key says: one, or several
  std::string dtype;            // of the model input
  std::vector<int64_t> dims;    // of one row, before the maps that change its shape
  int64_t classes = 0;          // values lie in [0, classes), or are -100; 0: not a label
  bool one_hot = false;         // a map turns class numbers into rows of the last axis
  Location where;
  std::vector<std::string> class_names = {};  // of the training rows, where the reader found them there
  bool cast = false;                          // what is floating is cut to integers where the input takes those
  bool looked_up = false;                     // elements are found by it: -100 is none
  std::string tokenizer = {};                 // of text: a tokenizer.json; empty: the rows say
  int64_t first_row = 0;                    // the number of the first row, for messages, where a file is read in parts
  std::vector<Diagnostic> bounded_by = {};  // notes: what has so many classes
  std::vector<double> fills = {};           // for what is missing, by value of a row; empty: the rows say
  const std::string& source() const { return sources.at(0).text; }
  // Whether elements of the type become integers as they are read.
  bool cuts(ElementType type) const;
};

// A quarter of the machine's memory.
int64_t most_resident_bytes();

struct ReaderRequest {
  std::string op;
  std::vector<ColumnRequest> columns;
  std::vector<ReaderSetting> settings;
  Location where;
  int64_t resident = most_resident_bytes();  // a column that is made and larger lies in a temporary file
  // Rows that do not train, 1 each: they say nothing of names and vocabularies. nullptr: all rows train.
  std::shared_ptr<const std::vector<uint8_t>> held = nullptr;

  const ReaderSetting* find(std::string_view key) const;  // nullptr where it is not given
  Location place(std::string_view key) const;             // of the setting, or of the reader
  // As given, or the reader's own default.
  ReaderValue value(std::string_view key) const;
  int64_t integer(std::string_view key) const { return std::get<int64_t>(value(key)); }
  bool flag(std::string_view key) const { return std::get<bool>(value(key)); }
  std::vector<std::string> texts(std::string_view key) const { return std::get<std::vector<std::string>>(value(key)); }
  std::string text(std::string_view key) const { return texts(key).at(0); }
};

// Room for the values of all rows: in memory, or mapped where it takes more than `resident` bytes.
std::byte* make_room(Column& column, int64_t rows, int64_t resident);

// Appends a column with such room; where its rows begin.
std::byte* add_column(Table& table, Column column, int64_t resident);

// As many rows of another type, with nothing in them yet.
Column with_room(const Column& like, ElementType type);

inline constexpr int64_t kIgnoreIndex = -100;

// What file headers alone say.
struct TableHeader {
  int64_t rows = 0;
  std::vector<ElementType> types;                          // of the request's columns
  std::vector<std::vector<std::string>> class_names = {};  // likewise; empty: no column has names
  bool names_found = false;                                // among the rows: those of the training rows hold for all
  std::vector<std::string> tokenizers = {};                // of the request's columns: a tokenizer.json; empty: no text
  bool tokens_found = false;                               // among the rows, as names_found
  std::vector<std::vector<double>> fills = {};             // of the request's columns: what stands for what is missing
  bool fills_found = false;                                // among the rows, as names_found
  // Held rows, one for each name and character that no training row has, in their order.
  std::vector<int64_t> strange = {};
  std::vector<std::string> notes = {};  // what a user should know: which files were passed over
};
TableHeader read_table_header(const ReaderRequest& request, const std::filesystem::path& root);
// Reads or draws the rows; throws UserError at the request's place.
Table read_table(const ReaderRequest& request, const std::filesystem::path& root);

// Rows are numbered in 31 bits.
inline constexpr int64_t kMostRows = (int64_t{1} << 31) - 1;

// For readers of a file for each column: adds the next column of the request, which has as many rows as those before.
void add_header(TableHeader& header, const ReaderRequest& request, int64_t rows, ElementType type);
void add_column(Table& table, const ReaderRequest& request, int64_t rows, Column column);

// The same values as elements of another type, which must be able to hold them: rounded where that is floating.
void convert(Column& column, ElementType type);

// The last `rows` rows as a table of their own, removed from `table`.
Table split_tail(Table& table, int64_t rows);
// Likewise the rows that are marked, in their order. What is in memory, or in a temporary file, moves in place.
Table split_rows(Table& table, const std::vector<uint8_t>& marked, int64_t resident);

}  // namespace heddle::runtime::data
