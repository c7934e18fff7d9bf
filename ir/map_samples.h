// Data maps that make an element of several elements of the picture before them: of its neighbours,
// or of its other channels. A second record beside MapDef, whose `place` knows one element alone.
//
//   {"op": "blur", "kernel": 3}  ->  once for each row
//     const auto pixel_0 = [&](int py, int px, int c) { ... };           the picture before the map
//     const hd::Gaussian<3> blur_1(...);                                 (draw)
//     const auto pixel_1 = [&](int py, int px, int c) {
//       float x = hd::blurred<float>(pixel_0, blur_1, 28, 28, py, px, c);   (pixel)
//       return x;
//     };
//
// A list that has such a map is printed as one function per map, each of which asks the one before
// it (codegen/feed_text.h). The device's part is codegen/device/9_pictures.cuh.
#pragma once
#include "ir/map_def.h"

namespace heddle::ir {

struct SampleText {
  const DataMap& map;
  MapRow row;          // behind the map, and before it
  std::string name;    // of its own: "1"
  std::string draw;    // the four words drawn for it
  std::string before;  // the function (y, x, channel) that is the picture before it: "pixel_0"
  std::string type;    // that elements are computed in
  int64_t team = 1;    // threads that share the row
  std::function<std::string(double)> literal;

  int64_t channels() const { return row.dims.size() == 2 ? 1 : row.channels(); }
  std::string sides() const;  // "height, width"
};

struct SampleDef {
  int64_t (*taps)(const DataMap&) = nullptr;  // elements that one is made of
  std::function<std::vector<std::string>(const SampleText&)> draw = {};
  std::string (*pixel)(const SampleText&) = nullptr;  // the element (py, px, c)
};

struct RegisterSample {
  RegisterSample(std::string map, SampleDef def);
};
const SampleDef* find_sample(const MapDef& map);  // nullptr where an element is made of one

// --- what several of them have in common ---

std::vector<Key> window_keys(std::string_view scale_doc, std::string_view ratio_doc);
std::vector<Key> turn_keys();
// The two numbers of a key, or these where it is absent; and whether they are two that grow.
std::pair<double, double> bounds_of(const DataMap& map, std::string_view key, std::pair<double, double> absent);
void require_bounds(const DataMap& map, std::string_view key);
// Of a key "filter": "bilinear", 0, or "nearest", 1.
Key filter_key();
bool is_nearest(const DataMap& map);
int64_t filter_taps(const DataMap& map);                          // pixels that one is made of
std::string filter_fault(const DataMap& map, const MapRow& row);  // integers are not blended
std::string turn_fault(const DataMap& map, const MapRow& row);    // of the keys of turn_keys
std::string as_float(double value);                               // "0.5f"
// Declares `draw_NAME`, the row's words, and of the first two `WHAT_NAME`, a number of beta(a, a), a the key `alpha`.
std::vector<std::string> draw_beta(const MapText& text, std::string_view what);
// The pixel of a picture that is turned as `turn_NAME` says.
std::string turned_pixel(const SampleText& t);

}  // namespace heddle::ir
