// FedColumn: how rows of a column of the data set become an input of an entry that feeds itself; a node's attributes
// say the same.
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
  DType stored = DType::f32;       // as the data set holds it
  std::vector<DataMap> maps = {};  // but those that only say what the file holds
  int64_t classes = 0;             // > 0: a class number becomes this many zeros with a one, along the last axis
  bool channels_first = false;     // of a picture of three axes: [c,h,w]
  // Elements from where one row lies to the next one; of longer rows the input has the first elements. 0: as many as
  // become the input.
  int64_t stride = 0;
};
bool draws(const FedColumn& column);  // whether a map of it is random
bool draws_in_evaluation(const FedColumn& column);

// A column in a graph.
struct FedInput {
  FedColumn column;
  Type type;               // of the input: rows, then what a row is
  int64_t number = 0;      // of the column: its address stands in this place of the cursor's
  int64_t first_draw = 0;  // the cursor's word from which random maps find theirs; 0: they do not act

  int64_t rows() const { return type.dims.at(0); }
  int64_t elements() const { return type.elements() / rows(); }  // of a row
  int64_t elements_of_whole_row() const;                         // of the row that the input has the first elements of
  int64_t stored_elements() const;                               // that become a row
  int64_t stride() const { return column.stride > 0 ? column.stride : stored_elements(); }
  MapRow row() const;
  std::vector<size_t> active() const;  // maps that act, by their place in the list
  bool mixes() const;                  // a row with another one of the batch
  bool moves() const;                  // whether an element comes from another place of the picture
};
Attrs attrs_of(const FedInput& fed);
// Throws InferError where the attributes do not fit one another; the shape must be one.
FedInput fed_input(const Signature& s);
FedInput fed_input(const Node& n);

// How threads share the work: `team` of them a row, in packets.
struct FedThreads {
  static constexpr int64_t kOfBlock = 128;
  int64_t packet = 1, team = 1;
  int64_t blocks = 1;  // that have something to do
};
FedThreads threads_of(const FedInput& fed);

// "flip(probability = 0.5); scale(by = 0.5 0.25)". Reading throws InferError.
std::string maps_text(const std::vector<DataMap>& maps);
std::vector<DataMap> read_maps(std::string_view text);

}  // namespace heddle::ir
