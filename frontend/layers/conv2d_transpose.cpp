// Transposed convolution: the gradient of a convolution by its image, as a layer.
#include <fmt/format.h>

#include "frontend/instantiate/instantiate.h"
#include "frontend/layers/convolution.h"

namespace heddle::frontend {
namespace {

using ir::Dims;
using ir::ValueId;

constexpr int64_t kLargest = int64_t{1} << 30;

// One number for both sides or [h, w].
Dims read_pair(LayerContext& c, const std::string& setting) {
  Dims sides = c.settings.integers(setting);
  if (sides.size() == 1) sides.push_back(sides[0]);
  if (sides.size() != 2) c.fail_setting(setting, fmt::format("'{}' takes one number or [height, width]", setting));
  return sides;
}

// Numbers only: what "same" would leave out depends on what it would be the same as.
Dims read_pad(LayerContext& c) {
  const Json* given = c.settings.json("pad");
  if (given != nullptr && given->kind == Json::Kind::text && is_name(given->text) &&
      !c.settings.scope().find(given->text))
    c.fail_setting(
        "pad", fmt::format("'pad' takes one number or [height, width], found {}", describe(*given)),
        "for stride times as many rows: kernel 3 with \"pad\": 1 and \"output_padding\": 1, or kernel 4 with "
        "\"pad\": 1, where the stride is 2");
  return read_pair(c, "pad");
}

// The result is what a convolution with these settings would have read: (i - 1) stride - 2 pad + reach rows, and the
// `output_padding` last ones of those that its stride would have left out.
Dims result_size(LayerContext& c, const Window& w, const Dims& more) {
  const Dims image = image_size(c);
  Dims size;
  for (size_t side = 0; side < 2; ++side) {
    const int64_t reach = (w.size[side] - 1) * w.dilations[side] + 1;
    const int64_t rows = (image[side] - 1) * w.strides[side] - 2 * w.pads[side] + reach + more[side];
    if (rows < 1)
      c.fail_setting("pad", fmt::format("padding {} leaves nothing of a {} of {}", w.pads[side],
                                        side == 0 ? "height" : "width", rows + 2 * w.pads[side]));
    size.push_back(rows);
  }
  return size;
}

ir::Values build(LayerContext& c) {
  c.require_f32(0);
  require_image(c);
  const int64_t filters = c.settings.integer("filters"), in = channels(c);
  const int64_t groups = read_groups(c, in, filters);
  Window w{.size = read_pair(c, "kernel"),
           .strides = read_pair(c, "stride"),
           .dilations = read_pair(c, "dilation"),
           .pads = read_pad(c)};
  const Dims more = read_pair(c, "output_padding");
  for (size_t side = 0; side < 2; ++side)
    if (more[side] >= w.strides[side])
      c.fail_setting("output_padding", fmt::format("'output_padding' is {}, expected less than the stride, which is {}",
                                                   more[side], w.strides[side]));
  const Dims size = result_size(c, w, more);
  check_size({c.dims(c.in[0])[0], size[0], size[1], filters}, c.node.op_where, c.settings.title());
  w.pads.insert(w.pads.end(), {w.pads[0], w.pads[1]});
  const ValueId weight = c.parameter("weight", {in, filters / groups, w.size[0], w.size[1]}, "init", "glorot_uniform",
                                     /*weight=*/true, /*layout=*/{0, 2, 3, 1});
  const ValueId x = c.to_nhwc(c.in[0]);
  const ValueId y = c.emit("conv2d_data_grad", {x, weight},
                           {{"strides", w.strides},
                            {"pads", w.pads},
                            {"dilations", w.dilations},
                            {"groups", groups},
                            {"input", Dims{c.dims(x)[0], size[0], size[1], filters}}},
                           "conv");
  return {c.from_nhwc(c.apply_activation(add_bias(c, y)))};
}

const RegisterLayer conv2d_transpose({
    .name = "conv2d_transpose",
    .doc = "each pixel adds a multiple of the filters: what a convolution's gradient does to its image",
    .settings =
        all_settings({{{.name = "filters", .doc = "output channels", .required = true, .range = ir::at_least(1)},
                       {.name = "kernel",
                        .type = KeyType::integer,
                        .count = Count::several,
                        .doc = "window: one number or [h, w]",
                        .required = true,
                        .range = ir::between(1, kLargest)},
                       {.name = "stride",
                        .type = KeyType::integer,
                        .count = Count::several,
                        .doc = "one number or [h, w]",
                        .fallback = Dims{1, 1},
                        .range = ir::between(1, kLargest)},
                       {.name = "pad",
                        .type = KeyType::integer,
                        .count = Count::several,
                        .doc = "rows and columns left out at each side: one number or [h, w]",
                        .fallback = Dims{0, 0},
                        .range = ir::between(0, kLargest)},
                       {.name = "output_padding",
                        .type = KeyType::integer,
                        .count = Count::several,
                        .doc = "more of them after the last: one number or [h, w]",
                        .fallback = Dims{0, 0},
                        .range = ir::between(0, kLargest)},
                       {.name = "dilation",
                        .type = KeyType::integer,
                        .count = Count::several,
                        .doc = "one number or [h, w]",
                        .fallback = Dims{1, 1},
                        .range = ir::between(1, kLargest)},
                       {.name = "groups",
                        .doc = "channels split into groups that do not mix",
                        .fallback = int64_t{1},
                        .range = ir::at_least(1)}},
                      filter_settings(/*filters=*/1)}),
    .parameters = "weight [in, filters / groups, kh, kw], bias [filters]",
    .build = build,
});

}  // namespace
}  // namespace heddle::frontend
