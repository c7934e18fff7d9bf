#include "frontend/layers/reduction_parts.h"

#include <fmt/format.h>

#include <algorithm>

namespace heddle::frontend {

using ir::Dims;

std::vector<Key> reduction_settings() {
  return {{.name = "axis", .type = KeyType::integer, .count = Count::several, .doc = "one axis or several: all"},
          {.name = "keepdims", .type = KeyType::flag, .doc = "keep them as size 1", .fallback = false}};
}

Dims read_axes(LayerContext& c) {
  Dims axes = c.settings.json("axis") == nullptr ? Dims{} : c.settings.integers("axis");
  const int64_t rank = c.type(c.in[0]).rank();
  for (int64_t& axis : axes) {
    if (axis < -rank || axis >= rank) {
      c.fail_setting("axis", fmt::format("axis {} is outside the input {}", axis, c.shape_text(c.dims(c.in[0]))));
    }
    axis = axis < 0 ? axis + rank : axis;
  }
  std::sort(axes.begin(), axes.end());
  if (std::adjacent_find(axes.begin(), axes.end()) != axes.end()) c.fail_setting("axis", "an axis is named twice");
  if (axes.empty()) {
    for (int64_t d = 0; d < rank; ++d) axes.push_back(d);
  }
  return axes;
}

ir::ValueId kept_where_asked(LayerContext& c, ir::ValueId reduced, const Dims& axes) {
  if (!c.settings.flag("keepdims")) return reduced;
  Dims kept = c.dims(c.in[0]);
  for (const int64_t axis : axes) kept[static_cast<size_t>(axis)] = 1;
  return c.reshape(reduced, kept);
}

}  // namespace heddle::frontend
