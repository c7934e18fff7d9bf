// Data maps: what happens to rows of an input when a batch is gathered. Each registers itself from
// a file of its own in ir/maps.
//
//   {"op": "crop", "pad": 4}  ->  DataMap {def = crop, numbers = {pad: {4, 4}, fill: {0}}}
//     ->  once for each row    const hd::Words draw_0 = hd::fed_draw(cursor, row, 6, 0);
//                              const int down_0 = hd::below(draw_0.x, 9) - 4; ...
//         for each element     py += down_0, px += right_0; ...          where it comes from (place)
//                              x = out_0 ? 0.0f : x;                     what becomes of it (value)
//
// The frontend checks a model's lists by these records, the kernel that gathers a batch
// (codegen/feed_text.h) prints their texts. A list is applied from its first map to its last; so an
// element looks up where it comes from, from the last to the first.
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
      {};  // sides as two, borders as four; several: for each
           // channel, or element of the last axis
  DType dtype = DType::f32;
  Location where = {};
  std::map<std::string, Location, std::less<>> places = {};  // of the keys that are given
  std::map<std::string, std::string, std::less<>> words =
      {};  // of keys whose numbers are not known yet: a token's name
  const std::vector<double>& all(std::string_view key) const;
  double number(std::string_view key) const { return all(key).at(0); }
  int64_t integer(std::string_view key, size_t i = 0) const { return static_cast<int64_t>(all(key).at(i)); }
  double of_channel(std::string_view key, size_t channel) const;  // the one number, or the channel's
  bool has(std::string_view key) const { return numbers.contains(key); }
  bool waits_for_statistics() const;
  bool waits_for_tokens() const;  // its numbers are those of a tokenizer
};

// A row of an input as the list leaves it. A picture has 2 or 3 axes; one of planes is [channels, height, width].
struct MapRow {
  DType dtype = DType::f32;
  Dims dims;
  bool channels_first = false;
  bool picture() const { return dims.size() == 2 || dims.size() == 3; }
  int64_t height() const { return dims.at(channels_first ? 1 : 0); }
  int64_t width() const { return dims.at(channels_first ? 2 : 1); }
  int64_t channels() const;  // the last axis, of planes the first: what a list of numbers has one for each of
};

// What the texts of map `name` are made of. Names of its own end in `_NAME`.
struct MapText {
  const DataMap& map;
  MapRow row;        // behind the map
  std::string name;  // its place in the list, and whose row it is: "2", "2_other"
  std::string draw;  // the four words drawn for it: "hd::fed_draw(cursor, row, 6, 2)"
  std::string
      draw_element;  // those of the element, for `value`: "hd::fed_draw_element(cursor, row, 6, column + k, 128)"
  std::string x, y;  // the element's place in the picture, which `place` changes; for `value` x is the element
  std::string type;  // that elements are computed in
  std::function<std::string(double)> literal;
  std::function<std::string(const std::vector<double>&)> each;  // the one number, or that of the element's channel
};

struct MapDef {
  std::string name;
  std::string doc;
  std::vector<Key> keys = {};
  bool training = false;  // acts in training only, by functions of (seed, epoch, row, place in the list)
  // Draws in evaluations, too, as in an epoch 0 of seed 0: the same in each. Its `draw_element` is that of no other map.
  bool evaluates = false;
  bool picture = false;   // takes rows of 2 or 3 axes
  bool integers = false;  // of integer inputs, too
  bool first = false;     // says what the file holds: stands before all others
  // Mixes a row with another one of the batch. Its `value` finds that row's element in `other`;
  // inputs that it mixes have the same numbers, so that what is drawn, from the batch's row alone,
  // is the same for all.
  bool mixes = false;
  // Its keys `mean` and `std`, where the model has neither, are those of the training rows.
  bool statistics = false;
  // Its key `mask` may name a token; then all its numbers are those of the input's tokenizer.
  bool tokens = false;
  // The key that names a second input, which is made of the same elements by the same numbers: there the key is 1, else 0.
  std::string pairs = {};
  std::function<void(const DataMap&)> require = {};                      // of the keys alone; throws UserError
  std::function<std::string(const DataMap&, const MapRow&)> fault = {};  // what does not fit the row; else empty
  std::function<Dims(const DataMap&, const MapRow&)> before = {};        // the row's dims before it, where others
  std::function<std::vector<std::string>(const MapText&)> draw = {};     // once for each row
  std::function<std::vector<std::string>(const MapText&)> place = {};    // may declare `out_NAME`
  std::function<std::vector<std::string>(const MapText&)> value = {};
  // The same for predictions, whose rows the host makes, of maps that act there: an element of a
  // channel, with `round` behind each operation; where it comes from, false where from nowhere.
  std::function<double(const DataMap&, size_t channel, double x, double (*round)(double))> evaluate = {};
  std::function<bool(const DataMap&, const MapRow&, int64_t& y, int64_t& x)> find = {};
  std::function<double(const DataMap&, double)> largest = {};  // magnitude behind it; as before where it is not given
};

struct RegisterMap {
  explicit RegisterMap(MapDef def);
};
const MapDef* find_map(std::string_view name);
std::vector<std::string> map_names();

// The row behind each map of a list that makes `input`, and what the file's row then is.
std::vector<MapRow> rows_behind(const std::vector<DataMap>& maps, const MapRow& input);
MapRow row_before(const DataMap& map, const MapRow& behind);
MapRow stored_row(const std::vector<DataMap>& maps, const MapRow& input);

inline constexpr size_t kMostMaps = 32;  // of an input
// What is wrong about map i of the list, whose result is `row`; empty where nothing is.
std::string map_fault(const std::vector<DataMap>& list, size_t i, const MapRow& row);

// A map with these numbers, and the defaults of the other keys.
DataMap data_map(std::string_view name, std::map<std::string, std::vector<double>, std::less<>> numbers = {});

// Texts and checks that several maps have in common.
std::string fill_fault(const DataMap& map, const MapRow& row);  // 'fill' must be of the row's type
// The sides of `key` beyond the picture's, or its fill.
std::string sides_fault(const DataMap& map, std::string_view key, const MapRow& row);
std::vector<std::string> fill_where_out(const MapText& text);
double largest_of_fill(const DataMap& map, double before);
double largest_magnitude(const std::vector<double>& values);

}  // namespace heddle::ir
