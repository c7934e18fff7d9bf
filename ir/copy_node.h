// copy_node copies a node of one graph into another graph.
//
//   %y = add(%a, %b) {..} of @f, operands %c, %d of @g   ->   @g ends with %y = add(%c, %d) {..}
#pragma once
#include "ir/graph.h"

namespace heddle::ir {

// Appends to `to` a copy of `n`, a node of the graph `from`, with these operands. The copy keeps the operator, callee,
// attributes, location, and the types of the results. Names are made unique.
NodeId copy_node(Graph& to, const Graph& from, const Node& n, std::vector<ValueId> operands);

}  // namespace heddle::ir
