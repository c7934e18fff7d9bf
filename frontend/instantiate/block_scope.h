// What names mean in expressions: at the top of a model, and inside a use of a block.
#pragma once
#include "frontend/model.h"

namespace heddle::frontend {

// `let` and the free dimensions, with the batch at this size.
Scope model_scope(const Model& model, int64_t batch);

// The model's sizes, then the block's own `let`, then the use's `with`, which is evaluated over the sizes around it.
// Throws UserError for a `with` that no expression of the block mentions: it can only be a typing error.
Scope block_scope(const Model& model, int64_t batch, const NodeDef& use, const Block& block, const Scope& around);

// What `with` of a repeated block is evaluated over in turn `turn`: the sizes around it, and `index`, the number of the
// turn, unless one of them has that name.
Scope turn_scope(const Scope& around, int64_t turn);
bool reads_index(const NodeDef& use);  // `with` names it, so that sizes differ from turn to turn

}  // namespace heddle::frontend
