// Dead code: removes nodes whose results nothing reads.
//
//   %a: f32[4] = exp(%x)          (unused)
//   %b: f32[4] = neg(%x)    ->    %b: f32[4] = neg(%x)
//   return %b                     return %b
//
// Not a pass of its own: differentiate, flatten, simplify and layout clean up after themselves with it.
#pragma once
#include "ir/graph.h"

namespace heddle::passes {

// Only nodes numbered `first` and later are candidates, so that a pass can remove what it made and nothing else.
bool remove_dead_nodes(ir::Graph& g, size_t first = 0);

}  // namespace heddle::passes
