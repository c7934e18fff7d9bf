// What layers that reduce axes have in common.
#pragma once
#include "frontend/layer_context.h"

namespace heddle::frontend {

std::vector<Key> reduction_settings();  // axis, keepdims
// The axes that the setting names, in their order from the front; all where it is absent.
ir::Dims read_axes(LayerContext& c);
// The result where the setting "keepdims" keeps reduced axes as size 1.
ir::ValueId kept_where_asked(LayerContext& c, ir::ValueId reduced, const ir::Dims& axes);

}  // namespace heddle::frontend
