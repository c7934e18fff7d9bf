// FeedText: prints the text that makes one input of a batch from rows of a column.
//
//   image: u8[784] * 1/255 -> f32[128,784]
//     HD_ROWS(int, row, 128, 128) {
//       const auto* from = hd::fed_column<hd::u8>(cursor_in, 0) + hd::fed_row(cursor_in, row) * 784;
//       ...
//         float x = (float)packet[k];
//         x = x * 0.003921569f;
//
//   [crop by up to 4] of u8[32,32,3]  ->  const hd::Words draw_0 = hd::fed_draw(cursor_in, row, 6, 0); ...
//                                         HD_COLUMNS(int, column, slot, 3072, 128, 4) {
//                                           ...
//                                           int py = e / 96, px = e / 3 % 32;
//                                           py += down_0, px += right_0;
//                                           ...
//                                           float x = (float)from[place];
//                                           x = out_0 ? 0.0f : x;
//
// Each map supplies its part of the text (ir/map_def.h). If a map mixes two rows, everything before it in the list is
// computed for both. If a map computes an element from several (ir/map_samples.h), each map becomes a function that
// calls the function of the map before it:
//
//   [flip, blur] of u8[28,28]  ->  const auto pixel_file = [&](int py, int px, int c) { ... from[place] ... };
//                                  const auto pixel_0 = [&](int py, int px, int c) { px = ...; float x = pixel_file(py, px, c); ... };
//                                  const auto pixel_1 = ...
//                                  HD_COLUMNS(...) ... float x = pixel_1(py, px, c);
#pragma once
#include <string>
#include <vector>

#include "codegen/c_text.h"
#include "ir/fed_column.h"

namespace heddle::codegen {

// Names of pointers in the kernel's text: the cursor to read, the cursor in which faults are noted, and the input.
struct FedPointers {
  std::string cursor, noted, input;
};

class FeedText {
 public:
  // `names` makes the kernel's identifiers; `symbol` is the kernel's name.
  FeedText(const ir::FedInput& fed, FedPointers pointers, const std::string& symbol, Names& names);

  std::vector<std::string> lines();
  std::vector<std::string> tables;  // constants with one number per channel; they belong before the kernel

 private:
  // Names for one of the rows from which an element is made: the batch's own row, or the row that is mixed into it.
  struct Source {
    std::string suffix, row, from, x, y, value, place;
  };
  static const Source kOwn, kOther;
  // A function in the kernel's text that returns a pixel of a picture.
  struct Pixels {
    std::string name;
    std::vector<std::string> lines;  // its definition
  };

  std::string index_type() const;
  size_t mixing() const;  // the index of the map that mixes; the number of maps if none does
  bool packed() const { return spec_.classes == 0 && !fed_.moves(); }
  ir::MapText text_of(size_t i, const Source& source, bool value);
  std::vector<std::string> source_lines(const Source& source) const;
  std::vector<std::string> packet_lines(const std::string& type, bool checked);
  std::vector<std::string> element_lines();
  bool samples() const;
  std::vector<std::string> draw_lines();
  Pixels stored_pixels(const Source& source) const;
  void add_map(Pixels& pixels, size_t i, const Source& source);
  std::vector<std::string> pixel_lines();
  std::vector<std::string> first_place() const;
  std::vector<std::string> last_place(const Source& source) const;
  std::string load(const Source& source) const;
  std::string one_hot(const std::string& from) const;
  std::string number(const std::vector<double>& values);
  std::string fault_line() const;

  const ir::FedInput& fed_;
  std::string pixels_;  // the name of the last map's function, if one of the maps samples
  const ir::FedColumn& spec_;
  FedPointers pointers_;
  std::vector<size_t> active_;  // indices of the maps that are applied in this entry
  std::vector<ir::MapRow> rows_behind_;
  ir::MapRow row_;
  std::string symbol_;
  Names& names_;
  ir::DType dtype_;
  int64_t elements_;
  ir::FedThreads threads_;
};

}  // namespace heddle::codegen
