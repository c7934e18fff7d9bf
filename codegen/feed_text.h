// The text that makes one input of a batch: from the column's rows to those of the input.
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
// Each map says its own part (ir/map_def.h). Behind a map that mixes two rows, all that comes
// before it is made of both. Where a map makes an element of several ones (ir/map_samples.h), each
// map becomes a function that asks the one before it:
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

// What the kernel's text calls the cursor as it is read and as faults are noted in it, and the input.
struct FedPointers {
  std::string cursor, noted, input;
};

class FeedText {
 public:
  // `names` are those of the kernel; it is called `symbol`.
  FeedText(const ir::FedInput& fed, FedPointers pointers, const std::string& symbol, Names& names);

  std::vector<std::string> lines();
  std::vector<std::string> tables;  // constants of one number per channel, for outside of the kernel

 private:
  // One of the rows that an element is made of: the batch's own, or the one that is mixed into it.
  struct Source {
    std::string suffix, row, from, x, y, value, place;
  };
  static const Source kOwn, kOther;
  // A picture as a function of the kernel's text.
  struct Pixels {
    std::string name;
    std::vector<std::string> lines;  // which define it
  };

  std::string index_type() const;
  size_t mixing() const;  // the map that mixes; as many as there are where none does
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
  std::string pixels_;  // the function that all maps make, where one of them samples
  const ir::FedColumn& spec_;
  FedPointers pointers_;
  std::vector<size_t> active_;  // maps that act in this entry, by their place in the list
  std::vector<ir::MapRow> rows_behind_;
  ir::MapRow row_;
  std::string symbol_;
  Names& names_;
  ir::DType dtype_;
  int64_t elements_;
  ir::FedThreads threads_;
};

}  // namespace heddle::codegen
