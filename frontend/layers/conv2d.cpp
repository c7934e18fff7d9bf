#include "frontend/layers/convolution.h"

namespace heddle::frontend {
namespace {

ir::Values build(LayerContext& c) {
  c.require_f32(0);
  require_image(c);
  const int64_t filters = c.settings.integer("filters");
  const int64_t groups = read_groups(c, channels(c), filters);
  const Window w = read_window(c, "kernel", /*stride_is_window=*/false, /*dilated=*/true, image_size(c));
  const ir::ValueId y = convolve(c, c.to_nhwc(c.in[0]), {filters, groups, w});
  return {c.from_nhwc(c.apply_activation(add_bias(c, y)))};
}

const RegisterLayer conv2d({
    .name = "conv2d",
    .doc = "cross-correlation of an image with filters",
    .settings =
        all_settings({{{.name = "filters", .doc = "output channels", .required = true, .range = ir::at_least(1)}},
                      kernel_settings(/*sequence=*/false),
                      {{.name = "groups",
                        .doc = "channels split into groups that do not mix",
                        .fallback = int64_t{1},
                        .range = ir::at_least(1)}},
                      filter_settings(/*filters=*/0)}),
    .parameters = "weight [filters, in / groups, kh, kw], bias [filters]",
    .build = build,
});

}  // namespace
}  // namespace heddle::frontend
