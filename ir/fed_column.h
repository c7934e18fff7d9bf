// FedColumn: how rows of a data set's column become an input of an entry that reads its own batches. The attributes of
// a `feed` node hold the same facts.
//
//   {.input = "image", .stored = u8, .maps = {scale by 1/255}}, the first column, into f32[128,784]
//     <->   {column = 0, dtype = "f32", input = "image", maps = "scale(by = 0.00392156862745098)", shape = [128,784],
//            stored = "u8"}
#pragma once
#include <string>
#include <vector>

#include "ir/map_def.h"
#include "ir/op_def.h"

namespace heddle::ir {

struct FedColumn {
  std::string input;
  DType stored = DType::f32;       // the type of the data set's elements
  std::vector<DataMap> maps = {};  // without the maps that only describe the file (MapDef::first)
  int64_t classes = 0;             // > 0: a class number becomes a one-hot vector of this size, along the last axis
  bool channels_first = false;     // a row is a picture [channels, height, width]
  // Elements from the start of one stored row to the start of the next. If stored rows are longer than the input's, the
  // input gets their first elements. 0: stored rows are as long as the input needs.
  int64_t stride = 0;
};
bool draws(const FedColumn& column);  // whether one of its maps is random
bool draws_in_evaluation(const FedColumn& column);

// A column as a graph reads it.
struct FedInput {
  FedColumn column;
  Type type;               // of the input; axis 0 is the rows
  int64_t number = 0;      // of the column: its address is the cursor's word kCursorColumns + number
  int64_t first_draw = 0;  // the cursor's first word for random maps (kCursorDraws words); 0: random maps are off

  int64_t rows() const { return type.dims.at(0); }
  int64_t elements() const { return type.elements() / rows(); }  // of a row of the input
  int64_t elements_of_whole_row() const;                         // of a row of the input, if `stride` cut nothing off
  int64_t stored_elements() const;                               // elements of the data set that become a row
  int64_t stride() const { return column.stride > 0 ? column.stride : stored_elements(); }
  MapRow row() const;
  std::vector<size_t> active() const;  // indices of the maps that are applied
  bool mixes() const;                  // whether a map mixes a row with another row of the batch
  bool moves() const;                  // whether a map reads an element from other positions of the picture
};
Attrs attrs_of(const FedInput& fed);
// The column that a `feed` node's attributes describe. Throws InferError if the attributes contradict each other. The
// attribute `shape` must be a valid shape.
FedInput fed_input(const Signature& s);
FedInput fed_input(const Node& n);

// How threads share the gather of a batch: `team` threads read a row, `packet` elements at a time.
struct FedThreads {
  static constexpr int64_t kOfBlock = 128;
  int64_t packet = 1, team = 1;
  int64_t blocks = 1;  // blocks with work
};
FedThreads threads_of(const FedInput& fed);

// Maps as text: "flip(probability = 0.5); scale(by = 0.5 0.25)". read_maps throws InferError.
std::string maps_text(const std::vector<DataMap>& maps);
std::vector<DataMap> read_maps(std::string_view text);

}  // namespace heddle::ir
