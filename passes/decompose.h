// Decompose: replaces every composite by the operators its definition names, until none is left
// outside of library calls.
//
//   %p: f32[8,10] = softmax(%x)
//   ->
//   %p.1: f32[8] = reduce_max(%x) {axes = [1]}
//   ...
//   %p: f32[8,10] = div(%p.4, %p.6)
//
// What a GPU executes faster in several launches is replaced likewise (OpDef::in_launches). A
// composite that a library takes whole becomes a call instead (passes/select/select.h). After
// differentiate, so that a composite with a gradient of its own keeps it. Results keep their names;
// what is new between them is numbered after the first.
#pragma once
#include <functional>

#include "passes/pass.h"

namespace heddle::passes {

bool decompose(ir::Module& m, const Options& options);

// Replaces the composites among the chosen nodes by their decompositions; what these are made of
// may be composite again.
bool decompose_nodes(ir::Graph& g, const std::function<bool(ir::NodeId)>& chosen);

}  // namespace heddle::passes
