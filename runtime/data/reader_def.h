// Readers: where the rows of a data set come from. Each registers itself from a file of its own in runtime/data/readers.
//
//   {"op": "synthetic", "rows": 6000, "image": "image", "label": "label"}
//     -> ReaderDef {name = "synthetic", keys = {rows: integer, ...}} reads the request {settings = {rows: 6000},
//        columns = {image: "image", label: "label"}}
//
// The frontend checks a model's keys by these records, the runtime reads with them.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ir/diagnostic.h"

namespace heddle::runtime::data {

struct ReaderRequest;
struct Table;
struct TableHeader;

// Names of classes by model input; no names: those that the training rows hold, sorted.
using ClassNames = std::map<std::string, std::vector<std::string>, std::less<>>;
using ReaderValue = std::variant<bool, int64_t, double, std::vector<std::string>, ClassNames>;

struct ReaderSetting {
  std::string key;
  ReaderValue value;
  Location where;
};

enum class KeyType {
  flag,
  integer,  // or an expression
  real,     // likewise
  text,
  texts,    // a list, or one
  path,     // of a file or folder, relative to the data
  paths,    // likewise several
  classes,  // an object: input -> list of names, or "sorted"
};

struct ReaderKey {
  std::string name;
  KeyType type = KeyType::text;
  std::string doc;
  std::optional<ReaderValue> fallback = {};
  bool required = false;
  int64_t low = 0, high = 0;              // of an integer
  std::vector<std::string> choices = {};  // of a text; empty: any
};

// What the key of an input says.
enum class ColumnKey {
  file,   // a path
  word,   // a name
  words,  // a name, an index, or a list of them
};

struct ReaderDef {
  std::string name;
  std::string doc;
  ColumnKey column = ColumnKey::word;
  std::vector<ReaderKey> keys = {};
  // What can be said before the rows are read: how many there are, and in which types.
  std::function<TableHeader(const ReaderRequest&, const std::filesystem::path& root)> header;
  // Columns in the request's order, of the header's types.
  std::function<Table(const ReaderRequest&, const std::filesystem::path& root)> read;
};

struct RegisterReader {
  explicit RegisterReader(ReaderDef def);
};
const ReaderDef* find_reader(std::string_view name);
std::vector<std::string> reader_names();

}  // namespace heddle::runtime::data
