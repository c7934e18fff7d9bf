// SampleDef: data maps that compute an element from several elements of their input picture, from neighbours or from
// other channels. A map has this record beside its MapDef, whose `place` finds a single element.
//
//   {"op": "blur", "kernel": 3}  ->  once for each row
//     const auto pixel_0 = [&](int py, int px, int c) { ... };           the picture before the map
//     const hd::Gaussian<3> blur_1(...);                                 (draw)
//     const auto pixel_1 = [&](int py, int px, int c) {
//       float x = hd::blurred<float>(pixel_0, blur_1, 28, 28, py, px, c);   (pixel)
//       return x;
//     };
//
// A list with such a map is printed as one function per map; each function calls the function of the map before it
// (codegen/feed_text.h). The device functions are in codegen/device/9_pictures.cuh.
#pragma once
#include "ir/map_def.h"

namespace heddle::ir {

struct SampleText {
  const DataMap& map;
  MapRow row;          // the same before and after the map
  std::string name;    // suffix of its variables: "1"
  std::string draw;    // the row's four random words
  std::string before;  // the function (y, x, channel) for a pixel of the picture before the map: "pixel_0"
  std::string type;    // the C++ type in which elements are computed
  int64_t team = 1;    // threads that share the row
  std::function<std::string(double)> literal;

  int64_t channels() const { return row.dims.size() == 2 ? 1 : row.channels(); }
  std::string sides() const;  // "height, width"
};

struct SampleDef {
  int64_t (*taps)(const DataMap&) = nullptr;                             // input elements per element
  std::function<std::vector<std::string>(const SampleText&)> draw = {};  // text that runs once per row
  std::string (*pixel)(const SampleText&) = nullptr;                     // text of the element (py, px, c)
};

struct RegisterSample {
  RegisterSample(std::string map, SampleDef def);
};
const SampleDef* find_sample(const MapDef& map);  // nullptr if each element comes from one element

// --- helpers that several of these maps share ---

std::vector<Key> window_keys(std::string_view scale_doc, std::string_view ratio_doc);
std::vector<Key> turn_keys();
// The two numbers of a key, or `absent` if the key is not given. require_bounds throws UserError unless they are two
// numbers in increasing order.
std::pair<double, double> bounds_of(const DataMap& map, std::string_view key, std::pair<double, double> absent);
void require_bounds(const DataMap& map, std::string_view key);
// The key "filter": "bilinear" is 0, "nearest" is 1.
Key filter_key();
bool is_nearest(const DataMap& map);
int64_t filter_taps(const DataMap& map);                          // pixels that the filter reads per pixel
std::string filter_fault(const DataMap& map, const MapRow& row);  // integers cannot be blended
std::string turn_fault(const DataMap& map, const MapRow& row);    // checks the keys of turn_keys
std::string as_float(double value);                               // "0.5f"
// Text of a pixel of the picture that is rotated by the variable `turn_NAME`.
std::string turned_pixel(const SampleText& t);

}  // namespace heddle::ir
