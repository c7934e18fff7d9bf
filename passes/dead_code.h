// Dead code: removes nodes whose results are unused.
//
//   %a: f32[4] = exp(%x)          (unused)
//   %b: f32[4] = neg(%x)    ->    %b: f32[4] = neg(%x)
//   return %b                     return %b
//
// A helper of passes such as differentiate, flatten, simplify and layout, which remove what they leave unused.
#pragma once
#include "ir/graph.h"

namespace heddle::passes {

// Removes dead nodes numbered `first` and later, so a pass can limit it to the nodes that it made. Returns whether it
// removed any.
bool remove_dead_nodes(ir::Graph& g, size_t first = 0);

}  // namespace heddle::passes
