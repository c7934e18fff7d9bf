// The scopes of names in expressions: at the top of a model, and inside a use of a block.
#pragma once
#include "frontend/model.h"

namespace heddle::frontend {

// The scope of `let` and the free dimensions, with this batch size.
Scope model_scope(const Model& model, int64_t batch);

// The scope inside a use of a block: the model's sizes, then the block's `let`, then the use's `with`, which is
// evaluated in the scope `around` it. Throws UserError for an entry of `with` that no expression of the block mentions:
// it must be a typing error.
Scope block_scope(const Model& model, int64_t batch, const NodeDef& use, const Block& block, const Scope& around);

// The scope in which `with` of a repeated block is evaluated in turn `turn`: the sizes around it, and `index`, the
// number of the turn, unless a size has that name.
Scope turn_scope(const Scope& around, int64_t turn);
bool reads_index(const NodeDef& use);  // whether `with` uses `index`, so that sizes may differ from turn to turn

}  // namespace heddle::frontend
