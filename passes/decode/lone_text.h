// Replaces the inputs that number the documents and the places of tokens by constants, for rows that hold a single
// text.
//
//   input %document: i32[2,8]   ->   %document.known: i32[2,8] = constant() {dtype = "i32", shape = [2,8]}
//   input %place: i32[2,8]      ->   %place.known: i32[2,8] = iota() {axis = 1, shape = [2,8]}
#pragma once
#include <vector>

#include "ir/graph.h"

namespace heddle::passes {

// The inputs hold integers, [rows, tokens], and are removed. Ids of other values stay valid.
void take_lone_text(ir::Graph& g, const std::vector<ir::ValueId>& documents, const std::vector<ir::ValueId>& places);

}  // namespace heddle::passes
