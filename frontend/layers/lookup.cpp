// Layers that find elements by indices.
#include <fmt/format.h>

#include "frontend/layer_context.h"
#include "frontend/limits.h"

namespace heddle::frontend {
namespace {

using ir::Dims;

void require_indices(LayerContext& c, size_t input) {
  const ir::Type& type = c.type(c.in[input]);
  if (!ir::is_integer(type.dtype))
    c.fail(fmt::format("expected integer indices, found {}{}", ir::to_string(type.dtype), c.shape_text(type.dims)),
           "declare the input with \"dtype\": \"i32\"", input);
}

// 1 where an index is not `padding`, 0 where it is: [...] -> [..., units].
ir::ValueId kept_rows(LayerContext& c, int64_t padding, const Dims& dims) {
  const ir::ValueId ids = c.in[0];
  const ir::ValueId keeps = c.emit("ne", {ids, c.constant(static_cast<double>(padding), c.type(ids))}, {}, "keeps");
  Dims axes;
  for (int64_t d = 0; d < c.type(ids).rank(); ++d) axes.push_back(d);
  return c.emit("broadcast", {keeps}, {{"dims", axes}, {"shape", dims}}, "keeps_row");
}

ir::Values build_embedding(LayerContext& c) {
  require_indices(c, 0);
  c.require_rank(0, 1, static_cast<int64_t>(kMaxRank) - 1, "indices [N, ...]");
  const int64_t vocab = c.settings.positive("vocab"), units = c.settings.positive("units");
  const ir::ValueId weight = c.parameter("weight", {vocab, units}, "init", "normal", /*weight=*/true);
  const ir::ValueId rows = c.emit("gather", {weight, c.in[0]});
  const int64_t padding = c.settings.integer("padding");
  if (padding == -1) return {rows};
  if (padding < 0 || padding >= vocab)
    c.fail_setting("padding", fmt::format("'padding' is {}, expected an index from 0 to {}", padding, vocab - 1));
  const Dims dims = c.dims(rows);
  return {c.emit("select", {kept_rows(c, padding, dims), rows, c.constant(0, c.type(rows))}, {}, "padded")};
}

ir::Values build_gather(LayerContext& c) {
  require_indices(c, 1);
  const int64_t rank = c.type(c.in[0]).rank(), axis = c.settings.integer("axis");
  if (rank == 0 || axis < -rank || axis >= rank)
    c.fail_setting("axis", fmt::format("axis {} is outside the input {}", axis, c.shape_text(c.dims(c.in[0]))));
  if (rank - 1 + c.type(c.in[1]).rank() > static_cast<int64_t>(kMaxRank))
    c.fail(fmt::format("the result would have more than {} dimensions", kMaxRank));
  return {c.emit("gather", c.in, {{"axis", axis}})};
}

const RegisterLayer embedding(
    {.name = "embedding",
     .doc = "row `index` of weight for each index",
     .inputs = {"indices"},
     .settings = {{.name = "vocab", .doc = "rows: indices lie in [0, vocab)", .required = true},
                  {.name = "units", .doc = "length of a row", .required = true},
                  {.name = "padding",
                   .doc = "an index of which the result is zeros, and that trains nothing; -1 is none",
                   .fallback = int64_t{-1}},
                  {.name = "init", .type = SettingType::part, .doc = "initializer of weight: normal"}},
     .parameters = "weight [vocab, units]",
     .build = build_embedding});
const RegisterLayer gather(
    {.name = "gather",
     .doc = "the elements at indices along an axis, in whose place the axes of the indices stand",
     .inputs = {"x", "indices"},
     .settings = {{.name = "axis", .doc = "counted from the end where negative", .fallback = int64_t{0}}},
     .build = build_gather});

}  // namespace
}  // namespace heddle::frontend
