// Parts of layers that read or write elements by indices.
#pragma once
#include "frontend/layer_context.h"

namespace heddle::frontend {

void require_indices(LayerContext& c, size_t input);
// Checks indices with coordinates, by the setting "batch" and the last axis of input 1: x is [batch.., coordinates..,
// ..], the indices are [batch.., .., coordinates]. Returns the shape of the elements found, which is also that of
// updates.
ir::Dims found_by_coordinates(LayerContext& c);
// Checks that input 2, the updates, has this shape and the type of x.
void require_updates(LayerContext& c, const ir::Dims& dims);

}  // namespace heddle::frontend
