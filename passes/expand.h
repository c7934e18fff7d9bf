// Expand: replaces every composite by the operators its definition names, until none is left.
//
//   %p: f32[8,10] = softmax(%x)
//   ->
//   %p.max: f32[8] = reduce_max(%x) {axes = [1]}
//   ...
//   %p: f32[8,10] = div(%p.exp, %p.sum.1)
//
// After differentiate, so that a composite with a gradient of its own keeps it. Values keep their names.
#pragma once
#include "passes/pass.h"

namespace heddle::passes {

bool expand(ir::Module& m, const Options& options);

// Whether the node is a composite that can be expanded.
bool is_expandable(const ir::Node& n);
// Replaces one composite by its expansion, in its place in the order; what the expansion made may be composite again.
void expand_node(ir::Graph& g, ir::NodeId id);

}  // namespace heddle::passes
