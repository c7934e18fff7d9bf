// Layers that read elements by indices.
#include <fmt/format.h>

#include <numeric>
#include <utility>

#include "frontend/layers/index_parts.h"
#include "frontend/limits.h"
#include "frontend/weight_norms.h"

namespace heddle::frontend {
namespace {

using ir::Dims;

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
  const int64_t vocab = c.settings.integer("vocab"), units = c.settings.integer("units");
  const ir::ValueId weight = c.parameter("weight", {vocab, units}, "init", "normal", /*weight=*/true);
  if (c.settings.flag("sparse")) c.train_sparsely(weight, "sparse");
  const ir::ValueId rows = c.emit("gather", {weight, c.in[0]});
  const int64_t padding = c.settings.integer("padding");
  if (padding == -1) return {rows};
  if (padding < 0 || padding >= vocab)
    c.fail_setting("padding", fmt::format("'padding' is {}, expected an index from 0 to {}", padding, vocab - 1));
  c.start_with_zeros(weight, padding);
  const Dims dims = c.dims(rows);
  return {c.emit("select", {kept_rows(c, padding, dims), rows, c.constant(0, c.type(rows))}, {}, "padded")};
}

ir::Values build_gather(LayerContext& c) {
  require_indices(c, 1);
  const int64_t axis = c.read_axis();
  if (c.type(c.in[0]).rank() - 1 + c.type(c.in[1]).rank() > static_cast<int64_t>(kMaxRank))
    c.fail(fmt::format("the result would have more than {} dimensions", kMaxRank));
  return {c.emit("gather", c.in, {{"axis", axis}})};
}

ir::Values build_gather_nd(LayerContext& c) {
  found_by_coordinates(c);
  return {c.emit("gather_nd", c.in, {{"batch", c.settings.integer("batch")}})};
}

// The axis is put last: the others are the batch, and each index is a vector of one coordinate.
ir::Values build_take_along_axis(LayerContext& c) {
  require_indices(c, 1);
  const auto axis = static_cast<size_t>(c.read_axis());
  const Dims x = c.dims(c.in[0]), indices = c.dims(c.in[1]);
  Dims expected = indices;
  if (expected.size() == x.size()) expected[axis] = x[axis];
  if (expected != x)
    c.fail(
        fmt::format("indices {} and the input {} differ beside axis {}", c.shape_text(indices), c.shape_text(x), axis),
        {}, 1);
  Dims perm(x.size());
  std::iota(perm.begin(), perm.end(), 0);
  std::swap(perm[axis], perm.back());
  const bool moves = axis + 1 != x.size();
  const auto turned = [&](ir::ValueId v, std::string_view suffix) {
    return moves ? c.emit("transpose", {v}, {{"perm", perm}}, suffix) : v;
  };
  const ir::ValueId places = turned(c.in[1], "places");
  Dims vectors = c.dims(places);
  vectors.push_back(1);
  const ir::ValueId found = c.emit("gather_nd", {turned(c.in[0], "turned"), c.reshape(places, vectors, "vectors")},
                                   {{"batch", static_cast<int64_t>(x.size()) - 1}}, "found");
  return {turned(found, "back")};
}

ir::Values build_one_hot(LayerContext& c) {
  require_indices(c, 0);
  c.require_rank(0, 0, static_cast<int64_t>(kMaxRank) - 1, "class numbers");
  const int64_t depth = c.settings.integer("depth");
  Dims dims = c.dims(c.in[0]), axes;
  for (size_t d = 0; d < dims.size(); ++d) axes.push_back(static_cast<int64_t>(d));
  dims.push_back(depth);
  const ir::ValueId index = c.b.cast(c.in[0], ir::DType::i64);
  const ir::ValueId wide = c.emit("broadcast", {index}, {{"dims", axes}, {"shape", dims}}, "index");
  const ir::ValueId each =
      c.emit("iota", {}, {{"shape", dims}, {"axis", static_cast<int64_t>(axes.size())}, {"dtype", std::string("i64")}},
             "class");
  const ir::ValueId hit = c.emit("eq", {wide, each}, {}, "hit");
  return {c.emit("cast", {hit}, {{"dtype", std::string("f32")}})};
}

std::vector<Key> embedding_settings() {
  std::vector<Key> all = {
      {.name = "vocab", .doc = "rows: indices lie in [0, vocab)", .required = true, .range = ir::at_least(1)},
      {.name = "units", .doc = "length of a row", .required = true, .range = ir::at_least(1)},
      {.name = "padding",
       .doc = "an index of which the result is zeros, and that trains nothing; -1 is none",
       .fallback = int64_t{-1}},
      {.name = "sparse",
       .type = KeyType::flag,
       .doc = "a step renews only the rows that its batch looks up",
       .fallback = false},
      {.name = "init", .type = KeyType::part, .doc = "initializer of weight: normal", .of = "initializer"}};
  for (Key& key : made_weight_settings(/*rows=*/0)) all.push_back(std::move(key));
  return all;
}

const RegisterLayer embedding({.name = "embedding",
                               .doc = "row `index` of weight for each index",
                               .inputs = {"indices"},
                               .settings = embedding_settings(),
                               .parameters = "weight [vocab, units]",
                               .build = build_embedding});
const RegisterLayer gather(
    {.name = "gather",
     .doc = "the elements at indices along an axis, in whose place the axes of the indices stand",
     .inputs = {"x", "indices"},
     .settings = {{.name = "axis", .doc = "counted from the end where negative", .fallback = int64_t{0}}},
     .build = build_gather});
const RegisterLayer gather_nd(
    {.name = "gather_nd",
     .doc = "the elements at the coordinates that the last axis of the indices holds: [batch.., places.., rest..]",
     .inputs = {"x", "indices"},
     .settings = {{.name = "batch", .doc = "leading axes in common", .fallback = int64_t{0}}},
     .build = build_gather_nd});
const RegisterLayer take_along_axis(
    {.name = "take_along_axis",
     .doc = "for each index the element of its own row along an axis, as PyTorch's gather",
     .inputs = {"x", "indices"},
     .settings = {{.name = "axis", .doc = "counted from the end where negative", .fallback = int64_t{-1}}},
     .build = build_take_along_axis});
const RegisterLayer one_hot(
    {.name = "one_hot",
     .doc = "f32 rows of zeros with a 1 at the index, of zeros alone where it is no class",
     .inputs = {"indices"},
     .settings = {{.name = "depth", .doc = "length of a row", .required = true, .range = ir::at_least(1)}},
     .build = build_one_hot});

}  // namespace
}  // namespace heddle::frontend
