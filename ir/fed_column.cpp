#include "ir/fed_column.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "ir/cursor.h"
#include "ir/keys/key_text.h"
#include "ir/map_samples.h"

namespace heddle::ir {
namespace {

// --- maps as text ---

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> parts(std::string_view text, char separator) {
  std::vector<std::string_view> list;
  while (!(text = trimmed(text)).empty()) {
    const size_t end = std::min(text.find(separator), text.size());
    list.push_back(trimmed(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return list;
}

double read_number(std::string_view text, const std::string& what) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
    throw InferError(fmt::format("{}: '{}' is no finite number", what, text));
  return value;
}

// The number of numbers of a key; 0 if it is a list, or may have one number per channel.
size_t count_of(const Key& key) {
  if (key.type == KeyType::sides) return 2;
  if (key.type == KeyType::borders) return 4;
  return key.count == Count::one ? 1 : 0;
}

std::vector<double> read_numbers(const Key& key, std::string_view text, const std::string& what) {
  std::vector<double> numbers;
  for (const std::string_view one : parts(text, ' ')) {
    const double value = numbers.emplace_back(read_number(one, what));
    const bool whole = key.type == KeyType::sides || key.type == KeyType::text || key.type == KeyType::borders ||
                       key.type == KeyType::integer;
    if (whole && value != std::floor(value))
      throw InferError(fmt::format("{}: expected whole numbers, got {}", what, one));
    if (const std::string fault = range_fault(key, value, std::string(one)); !fault.empty())
      throw InferError(fmt::format("{} {}", what, fault));
  }
  if (numbers.empty() || (count_of(key) > 0 && numbers.size() != count_of(key)))
    throw InferError(
        fmt::format("{}: expected {} numbers, got {}", what, std::max<size_t>(count_of(key), 1), numbers.size()));
  return numbers;
}

// "scale(by = 0.5)"
DataMap read_map(std::string_view text) {
  const size_t open = text.find('(');
  if (open == std::string_view::npos || text.back() != ')')
    throw InferError(fmt::format("maps: expected a map like scale(by = 0.5), got '{}'", text));
  const std::string name(trimmed(text.substr(0, open)));
  const MapDef* def = find_map(name);
  if (def == nullptr) {
    const std::string hint = did_you_mean(name, map_names());
    throw InferError(fmt::format("maps: there is no data map '{}'{}", name, hint.empty() ? "" : "; " + hint));
  }
  DataMap map{.def = def};
  for (const std::string_view setting : parts(text.substr(open + 1, text.size() - open - 2), ',')) {
    const size_t equals = std::min(setting.find('='), setting.size());
    const std::string key_name(trimmed(setting.substr(0, equals)));
    const Key* key = find_key(def->keys, key_name);
    if (key == nullptr || key->type == KeyType::dtype)
      throw InferError(fmt::format("maps: {} has no numbers '{}'", name, key_name));
    map.numbers[key_name] = read_numbers(*key, setting.substr(std::min(equals + 1, setting.size())),
                                         fmt::format("maps: {} of {}", key_name, name));
  }
  for (const Key& key : def->keys)
    if (!map.has(key.name) && (key.required || key.fallback || def->statistics))
      throw InferError(fmt::format("maps: {} expects '{}'", name, key.name));
  try {
    if (def->require) def->require(map);
  } catch (const UserError& error) {
    throw InferError(fmt::format("maps: {}", error.what()));
  }
  return map;
}

DType read_dtype(const Signature& s, std::string_view name) {
  const std::optional<DType> dtype = parse_dtype(s.text(name));
  if (!dtype || *dtype == DType::boolean)
    throw InferError(fmt::format("'{}' expects a dtype of numbers, got '{}'", name, s.text(name)));
  return *dtype;
}

void check(const FedInput& fed) {
  const FedColumn& column = fed.column;
  if (fed.type.rank() == 0) throw InferError("expected a shape of rows, got a scalar");
  if (column.input.empty()) throw InferError("'input' names the input, and is empty");
  if (fed.number < 0 || fed.number >= kMostColumns)
    throw InferError(fmt::format("'column' is {}, expected 0 to {}", fed.number, kMostColumns - 1));
  if (column.classes < 0 || (column.classes > 0 && (fed.type.rank() < 2 || fed.type.dims.back() != column.classes)))
    throw InferError(fmt::format("{} classes are no last axis of {}", column.classes, to_string(fed.type)));
  if (fed.first_draw != 0 && fed.first_draw < kCursorColumns)
    throw InferError(fmt::format("'draws' is {}, expected 0 or a word from {}", fed.first_draw, kCursorColumns));
  if (column.channels_first && fed.type.rank() != 4)
    throw InferError(fmt::format("channels come first in pictures of three axes, not in {}", to_string(fed.type)));
  if (column.stride < 0) throw InferError(fmt::format("'stride' is {}, expected 0 or more", column.stride));
  if (column.maps.size() > kMostMaps) throw InferError(fmt::format("more than {} maps", kMostMaps));
  MapRow row = fed.row();
  for (size_t i = column.maps.size(); i-- > 0; row = row_before(column.maps[i], row)) {
    const MapDef& def = *column.maps[i].def;
    const std::string fault = def.first                           ? "says what a file holds, and changes nothing"
                              : def.picture && column.classes > 0 ? "does not go with classes"
                                                                  : map_fault(column.maps, i, row);
    if (!fault.empty()) throw InferError(fmt::format("maps: {} {}", def.name, fault));
    if (column.stride > 0 && def.picture)
      throw InferError(fmt::format("maps: {} takes whole rows, and 'stride' cuts them", def.name));
  }
  if (column.stride > 0 && column.stride < fed.stored_elements())
    throw InferError(fmt::format("'stride' is {}, and a row takes {} elements", column.stride, fed.stored_elements()));
}

FedInput read(const Signature& s) {
  FedInput fed{.column = {.input = s.text("input"),
                          .stored = read_dtype(s, "stored"),
                          .maps = read_maps(s.text("maps")),
                          .classes = s.integer("classes"),
                          .channels_first = s.flag("channels_first"),
                          .stride = s.integer("stride")},
               .type = {read_dtype(s, "dtype"), s.integers("shape")},
               .number = s.integer("column"),
               .first_draw = s.integer("draws")};
  check(fed);
  return fed;
}

}  // namespace

bool draws(const FedColumn& column) {
  return std::ranges::any_of(column.maps, [](const DataMap& map) { return map.def->training || map.def->evaluates; });
}

bool draws_in_evaluation(const FedColumn& column) {
  return std::ranges::any_of(column.maps, [](const DataMap& map) { return map.def->evaluates; });
}

std::string maps_text(const std::vector<DataMap>& maps) {
  std::vector<std::string> texts;
  for (const DataMap& map : maps) {
    std::vector<std::string> settings;
    for (const auto& [name, numbers] : map.numbers)
      settings.push_back(fmt::format("{} = {}", name, fmt::join(numbers, " ")));
    texts.push_back(fmt::format("{}({})", map.def->name, fmt::join(settings, ", ")));
  }
  return fmt::format("{}", fmt::join(texts, "; "));
}

std::vector<DataMap> read_maps(std::string_view text) {
  std::vector<DataMap> maps;
  for (const std::string_view map : parts(text, ';')) maps.push_back(read_map(map));
  return maps;
}

int64_t FedInput::stored_elements() const {
  return column.classes > 0 ? elements() / column.classes : product(stored_row(column.maps, row()).dims);
}

int64_t FedInput::elements_of_whole_row() const {
  return column.stride > 0 ? elements() / stored_elements() * column.stride : elements();
}

MapRow FedInput::row() const {
  return {.dtype = type.dtype,
          .dims = Dims(type.dims.begin() + 1, type.dims.end()),
          .channels_first = column.channels_first};
}

std::vector<size_t> FedInput::active() const {
  std::vector<size_t> list;
  for (size_t i = 0; i < column.maps.size(); ++i) {
    const MapDef& def = *column.maps[i].def;
    if (first_draw > 0 || !(def.training || def.evaluates)) list.push_back(i);
  }
  return list;
}

bool FedInput::mixes() const {
  return std::ranges::any_of(active(), [&](size_t i) { return column.maps[i].def->mixes; });
}

bool FedInput::moves() const {
  return std::ranges::any_of(active(), [&](size_t i) {
    const MapDef& def = *column.maps[i].def;
    return def.place || find_sample(def) != nullptr;
  });
}

Attrs attrs_of(const FedInput& fed) {
  return {{"channels_first", fed.column.channels_first},
          {"classes", fed.column.classes},
          {"column", fed.number},
          {"draws", fed.first_draw},
          {"dtype", to_string(fed.type.dtype)},
          {"input", fed.column.input},
          {"maps", maps_text(fed.column.maps)},
          {"shape", fed.type.dims},
          {"stored", to_string(fed.column.stored)},
          {"stride", fed.column.stride}};
}

FedInput fed_input(const Signature& s) { return read(s); }

FedInput fed_input(const Node& n) { return read({.op = n.op, .attrs = n.attrs, .operands = {}, .results = {}}); }

FedThreads threads_of(const FedInput& fed) {
  constexpr int64_t kPacket = 4, kPacketsOfThread = 4, kWarp = 32;
  FedThreads threads;
  // Packets need rows that begin at multiples of a packet.
  threads.packet = fed.elements() % kPacket == 0 && fed.column.stride % kPacket == 0 ? kPacket : 1;
  const int64_t packets = fed.elements() / threads.packet;
  if (packets > FedThreads::kOfBlock / kPacketsOfThread) threads.team = FedThreads::kOfBlock;
  while (threads.team < kWarp && threads.team < packets) threads.team *= 2;
  threads.blocks = std::max<int64_t>(1, (fed.rows() * threads.team + FedThreads::kOfBlock - 1) / FedThreads::kOfBlock);
  return threads;
}

}  // namespace heddle::ir
