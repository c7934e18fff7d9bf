// Checks gradient nodes of a model: each row of u may depend only on its own row of x. Otherwise the model is refused.
//
//   %g: f32[8,4] = gradient(%u, %x), u: f32[8,1], with batch statistics between the two
//     ->  "gradient 'g': each row of 'u' needs a gradient of its own, but rows of 'x' meet on the way to it"
#pragma once
#include "frontend/instantiate/instantiate.h"

namespace heddle::frontend {

// Checks the gradients among the nodes from index `first` of the graph's order on, which `node` has made. `title` names
// the node. Throws UserError at the node.
void require_own_rows(const Instance& e, const NodeDef& node, const std::string& title, size_t first);

}  // namespace heddle::frontend
