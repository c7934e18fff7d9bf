// copy_node: a node of one graph, again in another one.
//
//   %y = add(%a, %b) {..} of @f, operands %c, %d of @g   ->   @g ends with %y = add(%c, %d) {..}
#pragma once
#include "ir/graph.h"

namespace heddle::ir {

// Appends to `to` a copy of `n`, a node of the graph `from`, with these operands. Operator, callee,
// attributes, place in the model, and its results' types are those of `n`; names are made unique.
NodeId copy_node(Graph& to, const Graph& from, const Node& n, std::vector<ValueId> operands);

}  // namespace heddle::ir
