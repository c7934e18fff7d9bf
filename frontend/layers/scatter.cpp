// Layers that write by indices.
#include "frontend/layers/index_parts.h"

namespace heddle::frontend {
namespace {

using ir::Dims;

// The axes [first, first + count) go to the front; `back` turns that round.
Dims to_front(int64_t rank, int64_t first, int64_t count) {
  Dims perm;
  for (int64_t d = 0; d < count; ++d) perm.push_back(first + d);
  for (int64_t d = 0; d < rank; ++d)
    if (d < first || d >= first + count) perm.push_back(d);
  return perm;
}

ir::ValueId turned(LayerContext& c, ir::ValueId v, const Dims& perm, std::string_view suffix) {
  return c.emit("transpose", {v}, {{"perm", perm}}, suffix);
}

ir::Values build_scatter(LayerContext& c) {
  const std::string combine = c.settings.text("combine");
  require_indices(c, 1);
  const int64_t axis = c.read_axis(), places = c.type(c.in[1]).rank();
  const Dims x = c.dims(c.in[0]), indices = c.dims(c.in[1]);
  Dims found(x.begin(), x.begin() + axis);
  found.insert(found.end(), indices.begin(), indices.end());
  found.insert(found.end(), x.begin() + axis + 1, x.end());
  require_updates(c, found);
  const Dims perm = to_front(std::ssize(x), axis, 1);
  const ir::ValueId rows = axis == 0 ? c.in[0] : turned(c, c.in[0], perm, "rows");
  ir::ValueId updates = c.in[2];
  if (axis != 0) updates = turned(c, updates, to_front(std::ssize(found), axis, places), "turned");
  Dims each = c.dims(rows);
  each[0] = ir::product(indices);
  const ir::ValueId y =
      c.emit("scatter", {rows, c.reshape(c.in[1], {each[0]}, "places"), c.reshape(updates, each, "updates")},
             {{"combine", combine}}, "scattered");
  return {axis == 0 ? y : turned(c, y, ir::inverse(perm), "back")};
}

ir::Values build_scatter_nd(LayerContext& c) {
  require_updates(c, found_by_coordinates(c));
  return {
      c.emit("scatter_nd", c.in, {{"batch", c.settings.integer("batch")}, {"combine", c.settings.text("combine")}})};
}

const Key kCombine = {.name = "combine",
                      .type = KeyType::text,
                      .doc = "set, add, mul, max or min",
                      .fallback = std::string("add"),
                      .words = {"set", "add", "mul", "max", "min"}};

const RegisterLayer scatter(
    {.name = "scatter",
     .doc =
         "x, where the places along an axis that the indices name are combined with the updates, one after the other",
     .inputs = {"x", "indices", "updates"},
     .settings = {kCombine, {.name = "axis", .doc = "counted from the end where negative", .fallback = int64_t{0}}},
     .build = build_scatter});
const RegisterLayer scatter_nd(
    {.name = "scatter_nd",
     .doc = "x, where the places that vectors of coordinates name are combined with the updates, one after the other",
     .inputs = {"x", "indices", "updates"},
     .settings = {kCombine, {.name = "batch", .doc = "leading axes in common", .fallback = int64_t{0}}},
     .build = build_scatter_nd});

}  // namespace
}  // namespace heddle::frontend
