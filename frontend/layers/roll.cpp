// roll, by torch.roll.
#include <fmt/format.h>

#include "frontend/layer_context.h"

namespace heddle::frontend {
namespace {

using ir::Dims;
using ir::ValueId;

// What leaves an axis at its end comes back at its start.
ValueId rolled(LayerContext& c, ValueId v, int64_t axis, int64_t shift) {
  const int64_t size = c.dims(v)[static_cast<size_t>(axis)];
  const int64_t by = (shift % size + size) % size;
  if (by == 0) return v;
  const ValueId back = c.slice(v, axis, size - by, size, "back"), front = c.slice(v, axis, 0, size - by, "front");
  return c.emit("concat", {back, front}, {{"axis", axis}});
}

ir::Values build(LayerContext& c) {
  const Dims dims = c.dims(c.in[0]), shifts = c.settings.integers("shifts");
  if (c.settings.json("axis") == nullptr) {
    if (shifts.size() != 1)
      c.fail_setting("shifts", fmt::format("{} shifts, and no axis", shifts.size()), "write \"axis\", one for each");
    if (dims.empty()) return {c.in[0]};
    return {c.reshape(rolled(c, c.reshape(c.in[0], {ir::product(dims)}, "flat"), 0, shifts[0]), dims)};
  }
  const Dims axes = c.settings.integers("axis");
  if (axes.size() != shifts.size())
    c.fail_setting("shifts", fmt::format("{} shifts, and {} axes", shifts.size(), axes.size()), "write one for each");
  const int64_t rank = std::ssize(dims);
  ValueId v = c.in[0];
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] < -rank || axes[i] >= rank)
      c.fail_setting("axis", fmt::format("axis {} is outside the input {}", axes[i], c.shape_text(dims)));
    v = rolled(c, v, axes[i] < 0 ? axes[i] + rank : axes[i], shifts[i]);
  }
  return {v};
}

const RegisterLayer roll({.name = "roll",
                          .doc = "elements moved along axes; those that leave at the end come back at the start",
                          .settings = {{.name = "shifts",
                                        .type = KeyType::integer,
                                        .count = Count::several,
                                        .doc = "by how many places; towards the start where negative",
                                        .required = true},
                                       {.name = "axis",
                                        .type = KeyType::integer,
                                        .count = Count::several,
                                        .doc = "one for each shift: all elements as one axis"}},
                          .build = build});

}  // namespace
}  // namespace heddle::frontend
