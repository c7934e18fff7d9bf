#include "frontend/layers/norm_parts.h"

namespace heddle::frontend {

std::vector<Key> norm_settings(bool affine) {
  return {{.name = "eps",
           .type = KeyType::real,
           .doc = "added to the biased variance",
           .fallback = 1e-5,
           .range = ir::kAboveZero},
          {.name = "scale", .type = KeyType::flag, .doc = "learn weight", .fallback = affine},
          {.name = "bias", .type = KeyType::flag, .doc = "learn bias", .fallback = affine}};
}

Affine make_affine(LayerContext& c, int64_t size) {
  const auto part = [&](bool wanted, const std::string& name, double otherwise, const std::string& init) {
    return wanted ? c.parameter(name, {size}, {}, init, /*weight=*/false)
                  : c.constant(otherwise, {ir::DType::f32, {size}});
  };
  const ir::ValueId scale = part(c.settings.flag("scale"), "weight", 1, "ones");
  const ir::ValueId bias = part(c.settings.flag("bias"), "bias", 0, "zeros");
  return {scale, bias};
}

Normalized normalize(LayerContext& c, ir::ValueId x, const Affine& affine, const ir::Dims& axes, double eps) {
  const ir::Values results = c.b.multi("normalize", {x, affine.scale, affine.bias}, {{"axes", axes}, {"eps", eps}},
                                       {c.path + ".norm", c.path + ".mean", c.path + ".variance"});
  return {results[0], results[1], results[2]};
}

}  // namespace heddle::frontend
