// Data maps: conversions that are applied to rows of an input when a batch is gathered. Each map is one file in
// ir/maps, which registers a MapDef.
//
//   {"op": "crop", "pad": 4}  ->  DataMap {def = crop, numbers = {pad: {4, 4}, fill: {0}}}
//     ->  once for each row    const hd::Words draw_0 = hd::fed_draw(cursor, row, 6, 0);
//                              const int down_0 = hd::below(draw_0.x, 9) - 4; ...
//         for each element     py += down_0, px += right_0; ...          where it comes from (place)
//                              x = out_0 ? 0.0f : x;                     what becomes of it (value)
//
// The frontend checks a model's lists of maps by these records. The kernel that gathers a batch contains their texts
// (codegen/feed_text.h). Values go through a list from the first map to the last. Positions go the other way: the
// kernel starts at an element of the input and finds its source position through the maps from the last to the first.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/diagnostic.h"
#include "ir/keys/key.h"
#include "ir/type.h"

namespace heddle::ir {

struct MapDef;

// One map of a list.
struct DataMap {
  const MapDef* def = nullptr;
  std::map<std::string, std::vector<double>, std::less<>> numbers =
      {};  // by key: two numbers for sides, four for borders; a key of several has one per channel
           // or element of the last axis
  DType dtype = DType::f32;
  Location where = {};
  std::map<std::string, Location, std::less<>> places = {};  // locations of the keys that the model gives
  std::map<std::string, std::string, std::less<>> words =
      {};  // keys whose numbers are not known yet: the name of a token
  const std::vector<double>& all(std::string_view key) const;
  double number(std::string_view key) const { return all(key).at(0); }
  int64_t integer(std::string_view key, size_t i = 0) const { return static_cast<int64_t>(all(key).at(i)); }
  double of_channel(std::string_view key, size_t channel) const;  // the channel's number, or the only one
  bool has(std::string_view key) const { return numbers.contains(key); }
  bool waits_for_statistics() const;  // `mean` and `std` are computed from the training rows, later
  bool waits_for_tokens() const;      // a tokenizer supplies its numbers, later
};

// The type and shape of a row at some point of a list. A picture has 2 or 3 axes; with channels_first it is
// [channels, height, width].
struct MapRow {
  DType dtype = DType::f32;
  Dims dims;
  bool channels_first = false;
  bool picture() const { return dims.size() == 2 || dims.size() == 3; }
  int64_t height() const { return dims.at(channels_first ? 1 : 0); }
  int64_t width() const { return dims.at(channels_first ? 2 : 1); }
  int64_t channels() const;  // the size of the last axis, with channels_first of the first; 1 for a scalar row
};

// The names and functions from which a map prints its C++ text. Variables that the text declares end in `_NAME`.
struct MapText {
  const DataMap& map;
  MapRow row;        // after the map
  std::string name;  // the map's index in the list, and which row it is applied to: "2", "2_other"
  std::string draw;  // the row's four random words: "hd::fed_draw(cursor, row, 6, 2)"
  std::string
      draw_element;  // the element's random words, for `value`: "hd::fed_draw_element(cursor, row, 6, column + k, 128)"
  std::string x, y;  // for `place`: the element's position, which the text changes; for `value`: x is the element
  std::string type;  // the C++ type in which elements are computed
  std::function<std::string(double)> literal;
  std::function<std::string(const std::vector<double>&)> each;  // the element's channel's number, or the only one
};

struct MapDef {
  std::string name;
  std::string doc;
  std::vector<Key> keys = {};
  bool training = false;  // random, in training only: a function of (seed, epoch, row, index in the list)
  // Random in evaluations too, with seed 0 and epoch 0, so that all evaluations draw the same. No other map uses
  // `draw_element`.
  bool evaluates = false;
  bool picture = false;   // takes rows of 2 or 3 axes
  bool integers = false;  // takes integer inputs too
  bool first = false;     // only describes what the file holds; must be the first of a list
  // Mixes a row with another row of the batch. In `value`, `other` is that row's element. If several inputs are mixed,
  // they have the same numbers, and the draw depends on the row of the batch alone. So all of them mix equally.
  bool mixes = false;
  // If the model gives neither `mean` nor `std`, they are those of the training rows.
  bool statistics = false;
  // The key `mask` may name a token. Then the input's tokenizer supplies the numbers of `mask`, `vocab` and `special`.
  bool tokens = false;
  // The key that names a second input, made from the same elements with the same numbers. In `numbers` the key is 1 for
  // that second input, else 0.
  std::string pairs = {};
  std::function<void(const DataMap&)> require = {};                      // checks the keys alone; throws UserError
  std::function<std::string(const DataMap&, const MapRow&)> fault = {};  // why it cannot take the row, or empty
  std::function<Dims(const DataMap&, const MapRow&)> before = {};     // dims of the row before the map, if they differ
  std::function<std::vector<std::string>(const MapText&)> draw = {};  // text that runs once per row
  std::function<std::vector<std::string>(const MapText&)> place =
      {};  // text that changes y and x; may declare `out_NAME`
  std::function<std::vector<std::string>(const MapText&)> value = {};  // text that changes the element
  // `value` and `place` for predictions, whose rows the host makes. Present if the map acts there. `evaluate` computes
  // an element of a channel, and calls `round` after each operation. `find` changes y and x, and returns false if the
  // element has no source.
  std::function<double(const DataMap&, size_t channel, double x, double (*round)(double))> evaluate = {};
  std::function<bool(const DataMap&, const MapRow&, int64_t& y, int64_t& x)> find = {};
  // The largest magnitude after the map, given the largest before it; absent: the same.
  std::function<double(const DataMap&, double)> largest = {};
};

struct RegisterMap {
  explicit RegisterMap(MapDef def);
};
const MapDef* find_map(std::string_view name);
std::vector<std::string> map_names();

// Shapes of rows, computed backwards from the row of the input: after each map of the list; before one map; in the
// file.
std::vector<MapRow> rows_behind(const std::vector<DataMap>& maps, const MapRow& input);
MapRow row_before(const DataMap& map, const MapRow& behind);
MapRow stored_row(const std::vector<DataMap>& maps, const MapRow& input);

inline constexpr size_t kMostMaps = 32;  // of an input
// What is wrong with map i of the list, whose result is `row`; empty if nothing is.
std::string map_fault(const std::vector<DataMap>& list, size_t i, const MapRow& row);

// A map with these numbers, and with defaults for the other keys.
DataMap data_map(std::string_view name, std::map<std::string, std::vector<double>, std::less<>> numbers = {});

// Texts and checks that several maps share. A fault is an error message, or empty.
std::string fill_fault(const DataMap& map, const MapRow& row);  // 'fill' must be a number of the row's type
// The sides of `key` must not exceed the picture's, and 'fill' must be a number of the row's type.
std::string sides_fault(const DataMap& map, std::string_view key, const MapRow& row);
std::vector<std::string> fill_where_out(const MapText& text);
double largest_of_fill(const DataMap& map, double before);
double largest_magnitude(const std::vector<double>& values);

}  // namespace heddle::ir
