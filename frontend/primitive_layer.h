// Operators of the IR as nodes: NumPy broadcasting and number literals made explicit.
//
//   {"op": "mul", "in": ["x", 2.0]}  with x: f32[4,3]
//     -> %mul.constant: f32[4,3] = constant() {shape = [4,3], value = 2}
//        %mul: f32[4,3] = mul(%x, %mul.constant)
#pragma once
#include "frontend/layer_context.h"

namespace heddle::frontend {

// The definition of an IR operator as a node that takes what the operator takes: elementwise ones, pad and reverse.
LayerDef primitive_layer(const ir::OpDef& op);

// The inputs at their common shape; literals become constants of the others' type. The first
// `conditions` inputs have a type of their own.
ir::Values broadcast_inputs(LayerContext& c, size_t conditions = 0);

}  // namespace heddle::frontend
