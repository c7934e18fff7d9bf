#include <fmt/format.h>

#include "frontend/layers/norm_parts.h"
#include "frontend/limits.h"

namespace heddle::frontend {
namespace {

using ir::Dims;

ir::Values build_layer_norm(LayerContext& c) {
  c.require_f32(0);
  c.require_rank(0, 2, static_cast<int64_t>(kMaxRank), "an input [N, ..., features]");
  const int64_t features = c.dims(c.in[0]).back();
  const double eps = c.settings.real("eps");
  const Affine affine = make_affine(c, features);
  return {c.emit("layer_norm", {c.in[0], affine.scale, affine.bias}, {{"eps", eps}})};
}

ir::Values build_softmax(LayerContext& c, std::string_view op) {
  c.require_floating(0);
  c.read_axis();
  return {c.emit(op, {c.in[0]}, {{"axis", c.settings.integer("axis")}})};
}

const std::vector<Key> kAxis = {{.name = "axis", .doc = "what sums to one", .fallback = int64_t{-1}}};

const RegisterLayer layer_norm({
    .name = "layer_norm",
    .doc = "(x - mean) / sqrt(variance + eps) * weight + bias over the last axis",
    .settings = norm_settings(/*affine=*/true),
    .parameters = "weight [features], bias [features]",
    .build = build_layer_norm,
});
const RegisterLayer softmax({.name = "softmax",
                             .doc = "exp(x) / sum exp(x) along an axis",
                             .activation = true,
                             .settings = kAxis,
                             .build = [](LayerContext& c) { return build_softmax(c, "softmax"); }});
const RegisterLayer log_softmax({.name = "log_softmax",
                                 .doc = "x - log sum exp(x) along an axis",
                                 .activation = true,
                                 .settings = kAxis,
                                 .build = [](LayerContext& c) { return build_softmax(c, "log_softmax"); }});

}  // namespace
}  // namespace heddle::frontend
