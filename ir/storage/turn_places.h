// Where a turn of a scan finds what lies outside of its body: in the operands and results of the scan.
//
//   body @cell(fixed %w: f32[4], carry %h: f32[4], slice %x: f32[4]) { ... return %y }
//   %last, %ys: f32[20,4] = scan @cell(%w, %h0, %xs) {count = 20}
//
//   %w: operand 0   %h: result 0   %x: operand 2, 16 bytes further on with each turn   %y: result 1, likewise
//
// Lowering takes addresses from it, and the memory verifier executes turns by it.
#pragma once
#include <functional>
#include <map>

#include "ir/graph.h"

namespace heddle::ir {

// Bytes from the start of an array, in turn 0, and by how many they move with each turn.
struct RowPlace {
  int64_t offset = 0, stride = 0;
  bool operator==(const RowPlace&) const = default;
};
RowPlace row_place(const Type& row, const Node& scan);  // of the turn's row of a slice or of a stacked result

struct TurnPlace {
  bool of_result = false;  // else of an operand
  size_t number = 0;
  RowPlace at = {};
  bool operator==(const TurnPlace&) const = default;
};
// By the roots of storages that lie outside of the body's own arena.
using TurnPlaces = std::map<ValueId, TurnPlace>;
TurnPlaces turn_places(const Graph& body, const Node& scan);

}  // namespace heddle::ir
