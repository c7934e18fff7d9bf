// depthwise_conv2d: filters that read one channel each, and the layer that mixes their results.
#include <fmt/format.h>

#include "frontend/layers/convolution.h"

namespace heddle::frontend {
namespace {

using ir::ValueId;

// Each channel through `multiplier` filters of its own.
ValueId each_channel(LayerContext& c, const std::string& weight, std::string_view suffix) {
  c.require_f32(0);
  require_image(c);
  const int64_t in = channels(c), multiplier = c.settings.integer("multiplier");
  int64_t filters = 0;
  if (__builtin_mul_overflow(in, multiplier, &filters))
    c.fail_setting("multiplier", fmt::format("'multiplier' is too large: {}", multiplier));
  const Window w = read_window(c, "kernel", /*stride_is_window=*/false, /*dilated=*/true, image_size(c));
  return convolve(c, c.to_nhwc(c.in[0]), {filters, in, w, weight}, suffix);
}

ir::Values build_depthwise(LayerContext& c) {
  const ValueId y = each_channel(c, "weight", "conv");
  return {c.from_nhwc(c.apply_activation(add_bias(c, y)))};
}

ir::Values build_separable(LayerContext& c) {
  const int64_t filters = c.settings.integer("filters");
  const ValueId each = each_channel(c, "depthwise.weight", "depthwise");
  const Window one{.size = {1, 1}, .strides = {1, 1}, .dilations = {1, 1}, .pads = {0, 0, 0, 0}};
  const ValueId mixed = convolve(c, each, {filters, 1, one, "pointwise.weight"}, "pointwise");
  return {c.from_nhwc(c.apply_activation(add_bias(c, mixed, "pointwise.bias")))};
}

const Key kMultiplier{
    .name = "multiplier", .doc = "filters of each channel", .fallback = int64_t{1}, .range = ir::at_least(1)};

const RegisterLayer depthwise_conv2d({
    .name = "depthwise_conv2d",
    .doc = "cross-correlation of each channel of an image with filters of its own",
    .settings = all_settings({{kMultiplier}, kernel_settings(/*sides=*/2), filter_settings(/*filters=*/0)}),
    .parameters = "weight [in * multiplier, 1, kh, kw], bias [in * multiplier]",
    .build = build_depthwise,
});
const RegisterLayer separable_conv2d({
    .name = "separable_conv2d",
    .doc = "each channel with filters of its own, then a product that mixes the channels",
    .settings = all_settings(
        {{{.name = "filters", .doc = "output channels", .required = true, .range = ir::at_least(1)}, kMultiplier},
         kernel_settings(/*sides=*/2),
         filter_settings(/*filters=*/0)}),
    .parameters = "depthwise.weight [in * multiplier, 1, kh, kw], pointwise.weight [filters, in * multiplier, 1, 1], "
                  "pointwise.bias [filters]",
    .build = build_separable,
});

}  // namespace
}  // namespace heddle::frontend
