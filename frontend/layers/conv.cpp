#include <fmt/format.h>

#include "frontend/layers/convolution.h"

namespace heddle::frontend {
namespace {

ir::Values build(LayerContext& c, size_t sides) {
  c.require_f32(0);
  require_sides(c, sides);
  const int64_t filters = c.settings.integer("filters");
  const int64_t groups = read_groups(c, channels(c), filters);
  const Window w = read_window(c, "kernel", /*stride_is_window=*/false, /*dilated=*/true, image_size(c));
  const ir::ValueId y = convolve(c, c.to_nhwc(c.in[0]), {filters, groups, w});
  return {c.from_nhwc(c.apply_activation(add_bias(c, y)))};
}

LayerDef convolving(size_t sides, const std::string& what, const std::string& kernel) {
  return {
      .name = fmt::format("conv{}d", sides),
      .doc = "cross-correlation of " + what + " with filters",
      .settings =
          all_settings({{{.name = "filters", .doc = "output channels", .required = true, .range = ir::at_least(1)}},
                        kernel_settings(sides),
                        {{.name = "groups",
                          .doc = "channels split into groups that do not mix",
                          .fallback = int64_t{1},
                          .range = ir::at_least(1)}},
                        filter_settings(/*filters=*/0)}),
      .parameters = fmt::format("weight [filters, in / groups, {}], bias [filters]", kernel),
      .build = [sides](LayerContext& c) { return build(c, sides); },
  };
}

const RegisterLayer conv1d(convolving(1, "a sequence", "k"));
const RegisterLayer conv2d(convolving(2, "an image", "kh, kw"));
const RegisterLayer conv3d(convolving(3, "a volume", "kd, kh, kw"));

}  // namespace
}  // namespace heddle::frontend
