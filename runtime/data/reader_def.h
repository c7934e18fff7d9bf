// Readers: where the rows of a data set come from. Each registers itself from a file of its own in
// runtime/data/readers.
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

// Names of classes by model input; no names: those that the training rows hold, sorted.
using ClassNames = std::map<std::string, std::vector<std::string>, std::less<>>;
using ReaderValue = std::variant<bool, int64_t, double, std::vector<double>, std::vector<std::string>, ClassNames>;

struct ReaderSetting {
  std::string key;
  ReaderValue value;
  Location where;
};
// nullptr where the model does not say it.
const ReaderSetting* find_setting(const std::vector<ReaderSetting>& settings, std::string_view key);

using ir::Count;
using ir::Key;
using ir::KeyType;

struct ReaderDef {
  std::string name;
  std::string doc;
  Key column = {.name = {}, .type = KeyType::text};  // what the key of an input says: a path, or what the file calls it
  std::vector<Key> keys = {};
  bool one_text = false;  // a row has one text, and the key of an input says what of it: "characters", "length"
  bool pairs = false;     // a row is a pair of texts (text_pairs.h), and the key of an input says what of it
  // What can be said before the rows are read: how many there are, and in which types.
  std::function<TableHeader(const ReaderRequest&, const std::filesystem::path& root)> header;
  // Columns in the request's order, of the header's types.
  std::function<Table(const ReaderRequest&, const std::filesystem::path& root)> read;
  // A hash of what each row has in a column of the file that no input need be made of; empty: the file has none.
  std::function<std::vector<uint64_t>(const ReaderRequest&, const std::filesystem::path& root, const Source& column)>
      values = {};
};

struct RegisterReader {
  explicit RegisterReader(ReaderDef def);
  // A record that depends on what registers itself elsewhere: it is made when a reader is first asked for.
  explicit RegisterReader(ReaderDef (*make)());
};
const ReaderDef* find_reader(std::string_view name);
std::vector<std::string> reader_names();

}  // namespace heddle::runtime::data
