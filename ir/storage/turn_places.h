// turn_places: where the inputs and outputs of a scan's body lie in the operands and results of the scan.
//
//   body @cell(fixed %w: f32[4], carry %h: f32[4], slice %x: f32[4]) { ... return %y }
//   %last, %ys: f32[20,4] = scan @cell(%w, %h0, %xs) {count = 20}
//
//   %w: operand 0   %h: result 0   %x: operand 2, 16 bytes further on with each turn   %y: result 1, likewise
//
// Lowering takes addresses from it, and the memory verifier executes turns with it.
#pragma once
#include <functional>
#include <map>

#include "ir/graph.h"

namespace heddle::ir {

// The offset in bytes from the start of an array in turn 0, and the bytes by which it moves with each turn (below 0 if
// the scan is reversed).
struct RowPlace {
  int64_t offset = 0, stride = 0;
  bool operator==(const RowPlace&) const = default;
};
RowPlace row_place(const Type& row, const Node& scan);  // the turn's row of a slice or of a stacked result

struct TurnPlace {
  bool of_result = false;  // in a result of the scan; else in an operand
  size_t number = 0;       // of the result or operand
  RowPlace at = {};
  bool operator==(const TurnPlace&) const = default;
};
// By the roots of the storages that lie outside the body's arena.
using TurnPlaces = std::map<ValueId, TurnPlace>;
TurnPlaces turn_places(const Graph& body, const Node& scan);

}  // namespace heddle::ir
