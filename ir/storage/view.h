// contiguous_pieces: finds movements that only rename bytes, so that they need no kernel.
//
//   reshape f32[4,5] -> f32[20]                        one piece: all 20 elements
//   slice f32[10] {starts = [2], limits = [5]}         one piece: 3 elements, 2 into the operand
//   concat f32[3], f32[4] {axis = 0}                   two pieces, at 0 and 3 of the result
//   slice f32[4,5] {starts = [0,1], limits = [4,3]}    none: rows of the result are not neighbours in the operand
#pragma once
#include <vector>

#include "ir/graph.h"

namespace heddle::ir {

// `count` consecutive elements of an operand that are also consecutive in the result.
struct Piece {
  size_t operand = 0;
  int64_t from = 0, to = 0;  // elements, into the operand and into the result
  int64_t count = 0;
  bool operator==(const Piece&) const = default;
};

// The pieces that make up the whole result of a movement; empty if n is no movement, or needs a kernel.
std::vector<Piece> contiguous_pieces(const Graph& g, const Node& n);

}  // namespace heddle::ir
