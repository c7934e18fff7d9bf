// Parts of layers that reduce axes.
#pragma once
#include "frontend/layer_context.h"

namespace heddle::frontend {

std::vector<Key> reduction_settings();  // the keys axis and keepdims
// The axes of the setting "axis", in ascending order; all axes if it is absent.
ir::Dims read_axes(LayerContext& c);
// The result; with the setting "keepdims", reduced axes are kept with size 1.
ir::ValueId kept_where_asked(LayerContext& c, ir::ValueId reduced, const ir::Dims& axes);

}  // namespace heddle::frontend
