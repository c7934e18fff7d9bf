#include <fmt/format.h>

#include "frontend/window.h"

namespace heddle::frontend {
namespace {

using ir::Dims;

void require_image(LayerContext& c) {
  c.require_floating(0);
  c.require_rank(
      0, 4, 4,
      c.layout == Layout::nhwc ? "an image [N, height, width, channels]" : "an image [N, channels, height, width]");
}

// A window that lies wholly in the padding has no element.
void check_padding(LayerContext& c, const Window& w) {
  for (size_t i = 0; i < 4; ++i) {
    if (w.pads[i] >= w.size[i % 2]) {
      c.fail_setting("pad", fmt::format("padding {} is not smaller than the window {}", w.pads[i], w.size[i % 2]));
    }
  }
}

ir::Values build_max(LayerContext& c) {
  require_image(c);
  const Window w = read_window(c, "window", /*stride_is_window=*/true, /*dilated=*/false, image_size(c));
  check_padding(c, w);
  const ir::Values results =
      c.b.multi("max_pool2d", {c.to_nhwc(c.in[0])}, {{"window", w.size}, {"strides", w.strides}, {"pads", w.pads}},
                {c.path + ".max", c.path + ".index"});
  return {c.from_nhwc(results[0])};
}

ir::Values build_average(LayerContext& c) {
  require_image(c);
  const Window w = read_window(c, "window", /*stride_is_window=*/true, /*dilated=*/false, image_size(c));
  check_padding(c, w);
  const bool include = c.settings.flag("count_include_pad");
  return {c.from_nhwc(
      c.emit("avg_pool2d", {c.to_nhwc(c.in[0])},
             {{"window", w.size}, {"strides", w.strides}, {"pads", w.pads}, {"count_include_pad", include}}))};
}

ir::Values reduce_image(LayerContext& c, std::string_view op) {
  require_image(c);
  return {c.emit(op, {c.in[0]}, {{"axes", c.layout == Layout::nhwc ? Dims{1, 2} : Dims{2, 3}}})};
}

const std::vector<SettingDef> kWindow = {
    {.name = "window", .type = SettingType::integers, .doc = "one number or [h, w]", .required = true},
    {.name = "stride", .type = SettingType::integers, .doc = "one number or [h, w]: the window"},
    {.name = "pad",
     .type = SettingType::padding,
     .doc = "valid, same, one number, [h, w] or [top, bottom, left, right]"}};

std::vector<SettingDef> with_padding_count() {
  std::vector<SettingDef> settings = kWindow;
  settings.push_back({.name = "count_include_pad",
                      .type = SettingType::flag,
                      .doc = "padding counts in the average",
                      .fallback = true});
  return settings;
}

const RegisterLayer max_pool2d({.name = "max_pool2d",
                                .doc = "the largest element of each window; the first of equals gets the gradient",
                                .settings = kWindow,
                                .build = build_max});
const RegisterLayer avg_pool2d(
    {.name = "avg_pool2d", .doc = "the mean of each window", .settings = with_padding_count(), .build = build_average});
const RegisterLayer global_avg_pool({.name = "global_avg_pool",
                                     .doc = "the mean over height and width: [N, channels]",
                                     .build = [](LayerContext& c) { return reduce_image(c, "reduce_mean"); }});
const RegisterLayer global_max_pool({.name = "global_max_pool",
                                     .doc = "the largest element over height and width: [N, channels]",
                                     .build = [](LayerContext& c) { return reduce_image(c, "reduce_max"); }});

}  // namespace
}  // namespace heddle::frontend
