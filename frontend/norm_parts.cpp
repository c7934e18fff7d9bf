#include "frontend/norm_parts.h"

#include <fmt/format.h>

namespace heddle::frontend {

std::vector<SettingDef> norm_settings(bool affine) {
  return {{.name = "eps", .type = SettingType::real, .doc = "added to the biased variance", .fallback = 1e-5},
          {.name = "scale", .type = SettingType::flag, .doc = "learn weight", .fallback = affine},
          {.name = "bias", .type = SettingType::flag, .doc = "learn bias", .fallback = affine}};
}

double read_eps(LayerContext& c) {
  const double eps = c.settings.real("eps");
  if (!(eps > 0)) c.fail_setting("eps", fmt::format("'eps' must be above 0, is {}", eps));
  return eps;
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
