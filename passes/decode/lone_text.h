// A text that is alone in its row: inputs that number the documents and the places of a row's tokens are known.
//
//   input %document: i32[2,8]   ->   %document.known: i32[2,8] = constant() {dtype = "i32", shape = [2,8]}
//   input %place: i32[2,8]      ->   %place.known: i32[2,8] = iota() {axis = 1, shape = [2,8]}
#pragma once
#include <vector>

#include "ir/graph.h"

namespace heddle::passes {

// The inputs are integers, [rows, tokens]; they go. Ids of other values stay as they are.
void take_lone_text(ir::Graph& g, const std::vector<ir::ValueId>& documents, const std::vector<ir::ValueId>& places);

}  // namespace heddle::passes
