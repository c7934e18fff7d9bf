#include "ir/map_def.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ir/check.h"
#include "ir/map_samples.h"

namespace heddle::ir {
namespace {

// Filled at start-up and frozen after.
std::map<std::string, MapDef, std::less<>>& registry() {
  static std::map<std::string, MapDef, std::less<>> maps;
  return maps;
}

bool is_real(DType t) { return t == DType::f32 || t == DType::f64; }

}  // namespace

RegisterMap::RegisterMap(MapDef def) {
  const std::string name = def.name;
  HEDDLE_CHECK(registry().emplace(name, std::move(def)).second, "the data map " + name + " is registered twice");
}

const MapDef* find_map(std::string_view name) {
  const auto it = registry().find(name);
  return it == registry().end() ? nullptr : &it->second;
}

std::vector<std::string> map_names() {
  std::vector<std::string> names;
  for (const auto& [name, def] : registry()) names.push_back(name);
  return names;
}

DataMap data_map(std::string_view name, std::map<std::string, std::vector<double>, std::less<>> numbers) {
  DataMap map{.def = find_map(name), .numbers = std::move(numbers)};
  HEDDLE_CHECK(map.def != nullptr, fmt::format("there is a data map '{}'", name));
  for (const Key& key : map.def->keys)
    if (key.fallback && !map.has(key.name)) map.numbers[key.name] = {std::get<double>(*key.fallback)};
  return map;
}

const std::vector<double>& DataMap::all(std::string_view key) const {
  const auto it = numbers.find(key);
  HEDDLE_CHECK(it != numbers.end() && !it->second.empty(), fmt::format("{} has '{}'", def->name, key));
  return it->second;
}

double DataMap::of_channel(std::string_view key, size_t channel) const {
  const std::vector<double>& values = all(key);
  return values.size() == 1 ? values[0] : values.at(channel);
}

bool DataMap::waits_for_statistics() const { return def->statistics && !has("mean"); }

bool DataMap::waits_for_tokens() const { return def->tokens && !has("mask"); }

int64_t MapRow::channels() const {
  if (dims.empty()) return 1;
  return channels_first ? dims.front() : dims.back();
}

MapRow row_before(const DataMap& map, const MapRow& behind) {
  MapRow row = behind;
  if (map.def->before) row.dims = map.def->before(map, behind);
  return row;
}

std::vector<MapRow> rows_behind(const std::vector<DataMap>& maps, const MapRow& input) {
  std::vector<MapRow> rows(maps.size(), input);
  for (size_t i = maps.size(); i > 1; --i) rows[i - 2] = row_before(maps[i - 1], rows[i - 1]);
  return rows;
}

MapRow stored_row(const std::vector<DataMap>& maps, const MapRow& input) {
  return maps.empty() ? input : row_before(maps.front(), rows_behind(maps, input).front());
}

namespace {

// If a map computes an element from several elements, everything before it is computed once for each of these.
constexpr int64_t kMostTaps = 1 << 15;

std::string chain_fault(const std::vector<DataMap>& list, size_t i) {
  int64_t taps = 1;
  for (size_t k = 0; k <= i && taps <= kMostTaps; ++k)
    if (const SampleDef* sample = find_sample(*list[k].def)) taps *= sample->taps(list[k]);
  if (taps <= kMostTaps || find_sample(*list[i].def) == nullptr) return {};
  return fmt::format(
      "makes each element of more than {} of the file's, with the maps before it, each of which multiplies them: "
      "leave out one of these maps, or give a blur a smaller 'kernel'",
      kMostTaps);
}

}  // namespace

std::string map_fault(const std::vector<DataMap>& list, size_t i, const MapRow& row) {
  const DataMap& map = list[i];
  const MapDef& def = *map.def;
  const auto earlier = [&](const auto& what) {
    return std::any_of(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(i), what);
  };
  if (def.first && i > 0) return "comes before all other maps of an input";
  if (!def.integers && !is_real(row.dtype))
    return fmt::format("expects an input of f32 or f64, not {}", to_string(row.dtype));
  if (def.picture && !row.picture())
    return fmt::format("changes pictures of 2 or 3 axes, a row of the input has {}", row.dims.size());
  if (def.mixes && earlier([](const DataMap& m) { return m.def->mixes; })) return "stands twice in the list";
  if (map.waits_for_statistics() && i > 0)
    return fmt::format("without 'mean' and 'std' comes before all other maps of an input: they are those of the files");
  for (const Key& key : def.keys)
    if (key.count == Count::several && map.has(key.name) && map.all(key.name).size() > 1 &&
        std::ssize(map.all(key.name)) != row.channels())
      return fmt::format("expects one number, or one for each of the {} {}", row.channels(),
                         row.channels_first ? "channels" : "elements of the last axis");
  if (std::string own = def.fault ? def.fault(map, row) : std::string(); !own.empty()) return own;
  return chain_fault(list, i);
}

std::string fill_fault(const DataMap& map, const MapRow& row) {
  constexpr double kMostInteger = 127;  // which every type holds
  const double fill = map.number("fill");
  if (is_real(row.dtype) || (fill == std::floor(fill) && fill >= 0 && fill <= kMostInteger)) return {};
  return fmt::format("'fill' of an input of {} is a whole number from 0 to 127", to_string(row.dtype));
}

std::string sides_fault(const DataMap& map, std::string_view key, const MapRow& row) {
  const int64_t height = map.integer(key, 0), width = map.integer(key, 1);
  if (height <= row.height() && width <= row.width()) return fill_fault(map, row);
  return fmt::format("{} x {} is larger than the pictures, {} x {}", height, width, row.height(), row.width());
}

std::vector<std::string> fill_where_out(const MapText& text) {
  return {fmt::format("{0} = out_{1} ? {2} : {0};", text.x, text.name, text.literal(text.map.number("fill")))};
}

double largest_of_fill(const DataMap& map, double before) { return std::max(before, std::abs(map.number("fill"))); }

double largest_magnitude(const std::vector<double>& values) {
  double most = 0;
  for (const double v : values) most = std::max(most, std::abs(v));
  return most;
}

}  // namespace heddle::ir
