// Decompose: replaces every composite by the operators of its definition, until none is left outside of library calls.
//
//   %p: f32[8,10] = softmax(%x)
//   ->
//   %p.1: f32[8] = reduce_max(%x) {axes = [1]}
//   ...
//   %p: f32[8,10] = div(%p.4, %p.6)
//
// On a GPU it also replaces operators that run faster as several launches (OpDef::in_launches). A composite that a
// library executes becomes a call instead (passes/select/select.h). The pass runs after differentiate, so that a
// composite uses its own gradient function. Results keep their names. Values between them are named after the first
// result and numbered.
#pragma once
#include <functional>

#include "passes/pass.h"

namespace heddle::passes {

bool decompose(ir::Module& m, const Options& options);

// Replaces the composites among the chosen nodes by their decompositions, which may contain composites. Returns whether
// it replaced any.
bool decompose_nodes(ir::Graph& g, const std::function<bool(ir::NodeId)>& chosen);

}  // namespace heddle::passes
