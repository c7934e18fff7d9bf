#include <fmt/format.h>

#include <limits>

#include "frontend/layers/norm_parts.h"
#include "frontend/limits.h"

namespace heddle::frontend {
namespace {

using ir::Dims;
using ir::ValueId;

// x / sqrt(mean(x^2) + eps) * weight (Zhang, Sennrich 2019, arXiv:1910.07467).
ir::Values build(LayerContext& c) {
  c.require_f32(0);
  c.require_rank(0, 2, static_cast<int64_t>(kMaxRank), "an input [N, ..., features]");
  const ValueId x = c.in[0];
  const Dims dims = c.dims(x);
  const int64_t last = std::ssize(dims) - 1;
  const double eps = c.settings.real("eps");
  const ValueId square = c.emit("reduce_mean", {c.emit("square", {x})}, {{"axes", Dims{last}}}, "mean_square");
  const ValueId guarded = c.emit("add", {square, c.constant(eps, c.type(square))}, {}, "guarded");
  const ValueId inverse = c.emit("rsqrt", {guarded}, {}, "inverse");
  Dims rows(dims.begin(), dims.end() - 1);
  rows.push_back(1);
  const ValueId y = c.emit("mul", {x, c.broadcast(c.reshape(inverse, rows, "rows"), dims)}, {}, "norm");
  if (!c.settings.flag("scale")) return {y};
  const ValueId weight = c.parameter("weight", {dims.back()}, {}, "ones", /*weight=*/false);
  return {c.emit("mul", {y, c.broadcast(weight, dims)})};
}

const RegisterLayer rms_norm({
    .name = "rms_norm",
    .doc = "x / sqrt(mean of x^2 + eps) * weight over the last axis",
    .settings = {{.name = "eps",
                  .type = KeyType::real,
                  .doc = "added to the mean of squares: the distance of 1 to the next f32",
                  .fallback = static_cast<double>(std::numeric_limits<float>::epsilon()),
                  .range = ir::kAboveZero},
                 {.name = "scale", .type = KeyType::flag, .doc = "learn weight", .fallback = true}},
    .parameters = "weight [features]",
    .build = build,
});

}  // namespace
}  // namespace heddle::frontend
