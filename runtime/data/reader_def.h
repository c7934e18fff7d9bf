// ReaderDef: the record of a reader, which reads rows of one file format. Each reader registers itself in one file of
// runtime/data/readers.
//
//   {"op": "synthetic", "rows": 6000, "image": "image", "label": "label"}
//     -> ReaderDef {name = "synthetic", keys = {rows: integer, ...}} reads the request {settings = {rows: 6000},
//        columns = {image: "image", label: "label"}}
//
// The frontend checks a model's keys with these records. The runtime reads with them.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ir/diagnostic.h"
#include "ir/keys/key.h"

namespace heddle::runtime::data {

struct ReaderRequest;
struct Source;
struct Table;
struct TableHeader;

// Class names by model input. An empty list means: the names that the training rows hold, sorted.
using ClassNames = std::map<std::string, std::vector<std::string>, std::less<>>;
using ReaderValue = std::variant<bool, int64_t, double, std::vector<double>, std::vector<std::string>, ClassNames>;

struct ReaderSetting {
  std::string key;
  ReaderValue value;
  Location where;
};
// Returns nullptr where the model does not have the setting.
const ReaderSetting* find_setting(const std::vector<ReaderSetting>& settings, std::string_view key);

using ir::Count;
using ir::Key;
using ir::KeyType;

struct ReaderDef {
  std::string name;
  std::string doc;
  Key column = {.name = {}, .type = KeyType::text};  // meaning of an input's key: a path, or a name in the file
  std::vector<Key> keys = {};
  bool one_text = false;  // a row is one text; an input's key names a part: "characters", "length"
  bool pairs = false;     // a row is a pair of texts (text_pairs.h); an input's key names a part
  // What is known before the rows are read: their number and the types of the columns.
  std::function<TableHeader(const ReaderRequest&, const std::filesystem::path& root)> header;
  // Reads the rows. The columns have the request's order and the header's types.
  std::function<Table(const ReaderRequest&, const std::filesystem::path& root)> read;
  // Returns a hash of each row's value in a column of the file, which need not feed an input. Empty: the format has no
  // such columns.
  std::function<std::vector<uint64_t>(const ReaderRequest&, const std::filesystem::path& root, const Source& column)>
      values = {};
};

struct RegisterReader {
  explicit RegisterReader(ReaderDef def);
  // For a record that depends on other registrations: it is made when a reader is first looked up.
  explicit RegisterReader(ReaderDef (*make)());
};
const ReaderDef* find_reader(std::string_view name);
std::vector<std::string> reader_names();

}  // namespace heddle::runtime::data
