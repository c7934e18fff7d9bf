// norm, cosine_similarity and pairwise_distance: lengths of vectors, and how near two of them are.
#include "frontend/vector_norm.h"

#include <fmt/format.h>

#include "frontend/layers/reduction_parts.h"
#include "frontend/primitive_layer.h"

namespace heddle::frontend {
namespace {

using ir::Dims;
using ir::ValueId;

Key power() {
  return {.name = "p",
          .type = KeyType::real,
          .doc = "the power: 2 is Euclid's norm, 1 the sum of sizes, 0 how many are not 0",
          .fallback = 2.0,
          .range = as_f32(ir::kNotNegative)};
}
Key eps(const std::string& doc, double fallback) {
  return {.name = "eps", .type = KeyType::real, .doc = doc, .fallback = fallback, .range = as_f32(ir::kNotNegative)};
}

ir::Values build_norm(LayerContext& c) {
  c.require_floating(0);
  const Dims axes = read_axes(c);
  return {kept_where_asked(c, vector_norm(c.b, c.path, c.in[0], axes, c.settings.real("p")), axes)};
}

ir::Values both_floating(LayerContext& c) {
  c.require_floating(0);
  c.require_floating(1);
  const ir::Values in = broadcast_inputs(c);
  if (c.type(in[0]).rank() == 0) c.fail("expected vectors, found two numbers");
  return in;
}

// A norm below eps counts as eps, without a change of its gradient.
ir::Values build_cosine(LayerContext& c) {
  const ir::Values in = both_floating(c);
  const Dims dims = c.dims(in[0]);
  int64_t axis = c.settings.integer("axis");
  if (axis < -std::ssize(dims) || axis >= std::ssize(dims))
    c.fail_setting("axis", fmt::format("axis {} is outside the inputs {}", axis, c.shape_text(dims)));
  axis = axis < 0 ? axis + std::ssize(dims) : axis;
  Dims others;
  for (int64_t d = 0; d < std::ssize(dims); ++d)
    if (d != axis) others.push_back(d);
  const auto unit = [&](ValueId v, const std::string& what) {
    const std::string name = c.path + "." + what;
    const ValueId length = raised_to(c.b, name, vector_norm(c.b, name, v, {axis}, 2), c.settings.real("eps"));
    const ValueId spread = c.emit("broadcast", {length}, {{"shape", dims}, {"dims", others}}, what + "_spread");
    return c.emit("div", {v, spread}, {}, what + "_unit");
  };
  const ValueId products = c.emit("mul", {unit(in[0], "x1"), unit(in[1], "x2")}, {}, "products");
  return {c.emit("reduce_sum", {products}, {{"axes", Dims{axis}}})};
}

ir::Values build_distance(LayerContext& c) {
  const ir::Values in = both_floating(c);
  const ValueId distance = pair_distance(c.b, c.path, in[0], in[1], c.settings.real("p"), c.settings.real("eps"));
  if (!c.settings.flag("keepdims")) return {distance};
  Dims kept = c.dims(in[0]);
  kept.back() = 1;
  return {c.reshape(distance, kept)};
}

LayerDef norm_layer() {
  LayerDef def{.name = "norm",
               .doc = "(sum |x|^p)^(1 / p) over axes, with a gradient of 0 at 0",
               .settings = reduction_settings(),
               .build = build_norm};
  def.settings.insert(def.settings.begin(), power());
  return def;
}

const RegisterLayer norm(norm_layer());
const RegisterLayer cosine_similarity(
    {.name = "cosine_similarity",
     .doc = "the cosine of the angle between vectors along an axis: sum x1 x2 / (max(|x1|, eps) max(|x2|, eps))",
     .inputs = {"x1", "x2"},
     .settings = {{.name = "axis", .doc = "that of the vectors, from the end where negative", .fallback = int64_t{-1}},
                  eps("the least length of a vector", 1e-8)},
     .build = build_cosine});
const RegisterLayer pairwise_distance(
    {.name = "pairwise_distance",
     .doc = "the norm of x1 - x2 + eps over the last axis",
     .inputs = {"x1", "x2"},
     .settings = {power(),
                  eps("added to each difference", 1e-6),
                  {.name = "keepdims", .type = KeyType::flag, .doc = "keep the axis as size 1", .fallback = false}},
     .build = build_distance});

}  // namespace
}  // namespace heddle::frontend
