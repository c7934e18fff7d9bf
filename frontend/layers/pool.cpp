#include <fmt/format.h>

#include "frontend/layers/convolution.h"

namespace heddle::frontend {
namespace {

using ir::Dims;

// A window that lies wholly in the padding has no element.
void check_padding(LayerContext& c, const Window& w, const Dims& image) {
  for (size_t i = 0; i < w.pads.size(); ++i) {
    const size_t side = i % w.size.size();
    const int64_t size = w.size[side], dilation = w.dilations[side];
    if ((w.pads[i] + dilation - 1) / dilation >= size)
      c.fail_setting("pad", fmt::format("padding {} is not smaller than the window {}{}", w.pads[i], size,
                                        dilation == 1 ? "" : fmt::format(" with dilation {}", dilation)));
    if (w.pads[i] > 0 && dilation > image[side])
      c.fail_setting("dilation",
                     fmt::format("dilation {} steps over the input of {} into the padding", dilation, image[side]));
  }
}

// The operand and its window; a sequence and its window as an image's of height 1.
struct Pooled {
  ir::ValueId x;
  Window window;
  size_t sides = 2;

  std::string op(const std::string& which) const { return fmt::format("{}_pool{}d", which, sides == 3 ? 3 : 2); }
};

Pooled read_pooled(LayerContext& c, size_t sides) {
  require_sides(c, sides);
  const Window w = read_window(c, "window", /*stride_is_window=*/true, /*dilated=*/true, image_size(c));
  check_padding(c, w, image_size(c));
  const ir::ValueId x = c.to_nhwc(c.in[0]);
  return {as_row(c, x, sides), sides == 1 ? over_row(w) : w, sides};
}

ir::ValueId result_of(LayerContext& c, const Pooled& p, ir::ValueId y) { return c.from_nhwc(from_row(c, y, p.sides)); }

ir::Attrs attributes(const Window& w) {
  return {{"window", w.size}, {"strides", w.strides}, {"pads", w.pads}, {"dilations", w.dilations}};
}

ir::Values build_max(LayerContext& c, size_t sides) {
  const Pooled p = read_pooled(c, sides);
  const ir::Values results = c.b.multi(p.op("max"), {p.x}, attributes(p.window), {c.path + ".max", c.path + ".index"});
  return {result_of(c, p, results[0])};
}

ir::Values build_average(LayerContext& c, size_t sides) {
  const Pooled p = read_pooled(c, sides);
  ir::Attrs attrs = attributes(p.window);
  attrs["count_include_pad"] = c.settings.flag("count_include_pad");
  return {result_of(c, p, c.emit(p.op("avg"), {p.x}, attrs))};
}

ir::Values reduce_sides(LayerContext& c, std::string_view op) {
  c.require_floating(0);
  c.require_rank(0, 3, 5,
                 c.layout == ImageLayout::nhwc ? "a sequence, an image or a volume [N, ..., channels]"
                                               : "a sequence, an image or a volume [N, channels, ...]");
  const int64_t first = c.layout == ImageLayout::nhwc ? 1 : 2;
  Dims axes;
  for (size_t side = 0; side < image_size(c).size(); ++side) axes.push_back(first + static_cast<int64_t>(side));
  return {c.emit(op, {c.in[0]}, {{"axes", axes}})};
}

std::vector<Key> pool_settings(size_t sides) {
  std::vector<Key> settings = window_settings("window", sides);
  settings[1].doc += ": the window";
  settings.push_back({.name = "dilation",
                      .type = KeyType::integer,
                      .count = Count::several,
                      .doc = "distance of the window's elements" + (sides == 1 ? "" : ": " + sides_doc(sides)),
                      .fallback = Dims{1}});
  return settings;
}

std::vector<Key> average_settings(size_t sides) {
  std::vector<Key> settings = pool_settings(sides);
  settings.push_back(
      {.name = "count_include_pad", .type = KeyType::flag, .doc = "padding counts in the average", .fallback = true});
  return settings;
}

LayerDef max_pool(size_t sides) {
  return {.name = fmt::format("max_pool{}d", sides),
          .doc = "the largest element of each window; the first of equals gets the gradient",
          .settings = pool_settings(sides),
          .build = [sides](LayerContext& c) { return build_max(c, sides); }};
}
LayerDef average_pool(size_t sides) {
  return {.name = fmt::format("avg_pool{}d", sides),
          .doc = "the mean of each window",
          .settings = average_settings(sides),
          .build = [sides](LayerContext& c) { return build_average(c, sides); }};
}

const RegisterLayer max_pool1d(max_pool(1));
const RegisterLayer max_pool2d(max_pool(2));
const RegisterLayer max_pool3d(max_pool(3));
const RegisterLayer avg_pool1d(average_pool(1));
const RegisterLayer avg_pool2d(average_pool(2));
const RegisterLayer avg_pool3d(average_pool(3));
const RegisterLayer global_avg_pool({.name = "global_avg_pool",
                                     .doc = "the mean over all sides of a sequence, an image or a volume: "
                                            "[N, channels]",
                                     .build = [](LayerContext& c) { return reduce_sides(c, "reduce_mean"); }});
const RegisterLayer global_max_pool({.name = "global_max_pool",
                                     .doc = "the largest element over all sides of a sequence, an image or a volume: "
                                            "[N, channels]",
                                     .build = [](LayerContext& c) { return reduce_sides(c, "reduce_max"); }});

}  // namespace
}  // namespace heddle::frontend
