#include <fmt/format.h>

#include "frontend/layers/window.h"

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

// The operand and its window as an image's, which a sequence has the height 1 for.
struct Pooled {
  ir::ValueId x;
  Window window;
  bool sequence = false;
};

Pooled read_pooled(LayerContext& c, bool sequence) {
  sequence ? require_sequence(c) : require_image(c);
  const Window w = read_window(c, "window", /*stride_is_window=*/true, /*dilated=*/true, image_size(c));
  check_padding(c, w, image_size(c));
  const ir::ValueId x = c.to_nhwc(c.in[0]);
  if (!sequence) return {x, w, false};
  const Dims dims = c.dims(x);
  return {c.reshape(x, {dims[0], 1, dims[1], dims[2]}, "row"), over_row(w), true};
}

ir::ValueId result_of(LayerContext& c, const Pooled& p, ir::ValueId y) {
  const Dims dims = c.dims(y);
  return c.from_nhwc(p.sequence ? c.reshape(y, {dims[0], dims[2], dims[3]}, "sequence") : y);
}

ir::Attrs attributes(const Window& w) {
  return {{"window", w.size}, {"strides", w.strides}, {"pads", w.pads}, {"dilations", w.dilations}};
}

ir::Values build_max(LayerContext& c, bool sequence) {
  const Pooled p = read_pooled(c, sequence);
  const ir::Values results = c.b.multi("max_pool2d", {p.x}, attributes(p.window), {c.path + ".max", c.path + ".index"});
  return {result_of(c, p, results[0])};
}

ir::Values build_average(LayerContext& c, bool sequence) {
  const Pooled p = read_pooled(c, sequence);
  ir::Attrs attrs = attributes(p.window);
  attrs["count_include_pad"] = c.settings.flag("count_include_pad");
  return {result_of(c, p, c.emit("avg_pool2d", {p.x}, attrs))};
}

ir::Values reduce_image(LayerContext& c, std::string_view op) {
  require_image(c);
  return {c.emit(op, {c.in[0]}, {{"axes", c.layout == ImageLayout::nhwc ? Dims{1, 2} : Dims{2, 3}}})};
}

std::vector<Key> pool_settings(bool sequence) {
  std::vector<Key> settings = window_settings("window", sequence);
  settings[1].doc += ": the window";
  settings.push_back(
      {.name = "dilation",
       .type = KeyType::integer,
       .count = Count::several,
       .doc = "distance of the window's elements" + std::string(sequence ? "" : ": one number or [h, w]"),
       .fallback = Dims{1}});
  return settings;
}

std::vector<Key> average_settings(bool sequence) {
  std::vector<Key> settings = pool_settings(sequence);
  settings.push_back(
      {.name = "count_include_pad", .type = KeyType::flag, .doc = "padding counts in the average", .fallback = true});
  return settings;
}

LayerDef max_pool(const std::string& name, bool sequence) {
  return {.name = name,
          .doc = "the largest element of each window; the first of equals gets the gradient",
          .settings = pool_settings(sequence),
          .build = [sequence](LayerContext& c) { return build_max(c, sequence); }};
}
LayerDef average_pool(const std::string& name, bool sequence) {
  return {.name = name,
          .doc = "the mean of each window",
          .settings = average_settings(sequence),
          .build = [sequence](LayerContext& c) { return build_average(c, sequence); }};
}

const RegisterLayer max_pool2d(max_pool("max_pool2d", /*sequence=*/false));
const RegisterLayer max_pool1d(max_pool("max_pool1d", /*sequence=*/true));
const RegisterLayer avg_pool2d(average_pool("avg_pool2d", /*sequence=*/false));
const RegisterLayer avg_pool1d(average_pool("avg_pool1d", /*sequence=*/true));
const RegisterLayer global_avg_pool({.name = "global_avg_pool",
                                     .doc = "the mean over height and width: [N, channels]",
                                     .build = [](LayerContext& c) { return reduce_image(c, "reduce_mean"); }});
const RegisterLayer global_max_pool({.name = "global_max_pool",
                                     .doc = "the largest element over height and width: [N, channels]",
                                     .build = [](LayerContext& c) { return reduce_image(c, "reduce_max"); }});

}  // namespace
}  // namespace heddle::frontend
