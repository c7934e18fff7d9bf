// The text that makes one input of a batch: from the column's rows to those of the input.
//
//   [crop by up to 4] of u8[32,32,3]  ->  const hd::Words draw_0 = hd::fed_draw(cursor, row, 6, 0); ...
//                                         HD_COLUMNS(int, column, slot, 3072, 128, 4) {
//                                           ...
//                                           int py = e / 96, px = e / 3 % 32;
//                                           py += down_0, px += right_0;
//                                           ...
//                                           float x = (float)from[place];
//                                           x = out_0 ? 0.0f : x;
//
// Each map says its own part (ir/map_def.h). Behind a map that mixes two rows, all that comes
// before it is made of both.
#pragma once
#include <string>
#include <vector>

#include "codegen/c_text.h"
#include "codegen/feed.h"

namespace heddle::codegen {

inline constexpr int64_t kFeedThreads = 128;

class FeedText {
 public:
  // `first_draw` is the cursor's word behind which random maps find theirs, or 0 where nothing is random.
  FeedText(const Buffer& input, const FeedSpec& spec, int64_t column, int64_t rows, int64_t first_draw,
           const std::string& symbol, Names& names);

  std::vector<std::string> lines();
  std::string declaration() const;
  int64_t bytes_read() const;
  int64_t bytes_written() const;
  double flops() const;
  int64_t most_blocks() const;

  std::string parameter, comment;
  std::vector<std::string> tables;  // constants of one number per channel

 private:
  // One of the rows that an element is made of: the batch's own, or the one that is mixed into it.
  struct Source {
    std::string suffix, row, from, x, y, value, place;
  };
  static const Source kOwn, kOther;

  int64_t stored_elements() const;
  std::string index_type() const;
  size_t mixing() const;  // the map that mixes; as many as there are where none does
  bool moves() const;     // whether an element comes from another place
  bool packed() const { return spec_.classes == 0 && !moves(); }
  ir::MapText text_of(size_t i, const Source& source, bool value);
  std::vector<std::string> source_lines(const Source& source) const;
  std::vector<std::string> packet_lines(const std::string& type, bool checked);
  std::vector<std::string> element_lines();
  std::vector<std::string> first_place() const;
  std::vector<std::string> last_place(const Source& source) const;
  std::string load(const Source& source) const;
  std::string one_hot(const std::string& from) const;
  std::string number(const std::vector<double>& values);
  std::string fault_line() const;

  const FeedSpec& spec_;
  std::vector<size_t> active_;  // maps that act in this entry, by their place in the list
  std::vector<ir::MapRow> rows_behind_;
  ir::MapRow row_;
  int64_t column_, batch_;
  int64_t first_draw_ = 0;
  std::string symbol_;
  Names& names_;
  ir::DType dtype_ = ir::DType::f32;
  int64_t elements_ = 1, packet_ = 1, team_ = 1;
};

}  // namespace heddle::codegen
