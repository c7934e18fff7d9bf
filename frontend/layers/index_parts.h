// What layers that read or write by indices share.
#pragma once
#include "frontend/layer_context.h"

namespace heddle::frontend {

void require_indices(LayerContext& c, size_t input);
// The setting "batch" and the last axis of input 1: x is [batch.., coordinates.., ..], the indices
// [batch.., .., coordinates]. Returns the shape of what they find, or of updates.
ir::Dims found_by_coordinates(LayerContext& c);
// Input 2: updates of this shape and of x's type.
void require_updates(LayerContext& c, const ir::Dims& dims);

}  // namespace heddle::frontend
