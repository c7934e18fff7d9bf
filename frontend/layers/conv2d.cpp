#include <fmt/format.h>

#include "frontend/window.h"

namespace heddle::frontend {
namespace {

using ir::Dims;

int64_t read_groups(LayerContext& c, int64_t in, int64_t filters) {
  const int64_t groups = c.settings.positive("groups");
  if (in % groups != 0) c.fail_setting("groups", fmt::format("{} groups do not divide {} input channels", groups, in));
  if (filters % groups != 0)
    c.fail_setting("groups", fmt::format("{} groups do not divide {} filters", groups, filters));
  return groups;
}

ir::Values build(LayerContext& c) {
  c.require_f32(0);
  c.require_rank(
      0, 4, 4,
      c.layout == Layout::nhwc ? "an image [N, height, width, channels]" : "an image [N, channels, height, width]");
  const int64_t filters = c.settings.positive("filters");
  const int64_t in = channels(c);
  const int64_t groups = read_groups(c, in, filters);
  const Window w = read_window(c, "kernel", /*stride_is_window=*/false, /*dilated=*/true, image_size(c));
  // OIHW in files, as PyTorch has it, OHWI in memory, as the operators take it.
  const ir::ValueId weight = c.parameter("weight", {filters, in / groups, w.size[0], w.size[1]}, "init",
                                         "glorot_uniform", /*weight=*/true, /*layout=*/{0, 2, 3, 1});
  ir::ValueId y =
      c.emit("conv2d", {c.to_nhwc(c.in[0]), weight},
             {{"strides", w.strides}, {"pads", w.pads}, {"dilations", w.dilations}, {"groups", groups}}, "conv");
  if (c.settings.flag("bias")) {
    const ir::ValueId bias = c.parameter("bias", {filters}, "bias_init", "zeros", /*weight=*/false);
    y = c.emit("add", {y, c.broadcast(bias, Dims(c.dims(y)))});
  }
  return {c.from_nhwc(c.apply_activation(y))};
}

const RegisterLayer conv2d({
    .name = "conv2d",
    .doc = "cross-correlation of an image with filters",
    .settings =
        {{.name = "filters", .doc = "output channels", .required = true},
         {.name = "kernel", .type = SettingType::integers, .doc = "window: one number or [h, w]", .required = true},
         {.name = "stride", .type = SettingType::integers, .doc = "one number or [h, w]", .fallback = Dims{1, 1}},
         {.name = "pad",
          .type = SettingType::padding,
          .doc = "valid, same, one number, [h, w] or [top, bottom, left, right]"},
         {.name = "dilation", .type = SettingType::integers, .doc = "one number or [h, w]", .fallback = Dims{1, 1}},
         {.name = "groups", .doc = "channels split into groups that do not mix", .fallback = int64_t{1}},
         {.name = "bias", .type = SettingType::flag, .doc = "add a bias", .fallback = true},
         {.name = "activation", .type = SettingType::part, .doc = "applied to the result"},
         {.name = "init", .type = SettingType::part, .doc = "initializer of weight: glorot_uniform"},
         {.name = "bias_init", .type = SettingType::part, .doc = "initializer of bias: zeros"}},
    .parameters = "weight [filters, in / groups, kh, kw], bias [filters]",
    .build = build,
});

}  // namespace
}  // namespace heddle::frontend
