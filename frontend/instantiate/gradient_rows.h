// Gradients of columns: each row of u has derivatives by its own row of x alone, or the model is refused at the node.
//
//   %g: f32[8,4] = gradient(%u, %x), u: f32[8,1], with batch statistics between the two
//     ->  "gradient 'g': each row of 'u' needs a gradient of its own, but rows of 'x' meet on the way to it"
#pragma once
#include "frontend/instantiate/instantiate.h"

namespace heddle::frontend {

// Looks at the gradients among the nodes of the graph from the `first` on, which `node` has made. `title` names it.
void require_own_rows(const Instance& e, const NodeDef& node, const std::string& title, size_t first);

}  // namespace heddle::frontend
