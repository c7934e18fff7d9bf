// Operators of the IR as nodes of a model. NumPy broadcasting and number literals become explicit nodes.
//
//   {"op": "mul", "in": ["x", 2.0]}  with x: f32[4,3]
//     -> %mul.constant: f32[4,3] = constant() {shape = [4,3], value = 2}
//        %mul: f32[4,3] = mul(%x, %mul.constant)
#pragma once
#include "frontend/layer_context.h"

namespace heddle::frontend {

// The layer definition of an IR operator that takes the same operands as the layer: elementwise operators, pad and
// reverse.
LayerDef primitive_layer(const ir::OpDef& op);

// The inputs, broadcast to their common shape. Literals become constants of the type of the other inputs. The first
// `conditions` inputs may have another type.
ir::Values broadcast_inputs(LayerContext& c, size_t conditions = 0);

}  // namespace heddle::frontend
