// Transposed convolution: the gradient of a convolution by its image, as a layer.
#include <fmt/format.h>

#include "frontend/instantiate/instantiate.h"
#include "frontend/layers/convolution.h"

namespace heddle::frontend {
namespace {

using ir::Dims;
using ir::ValueId;

constexpr int64_t kLargest = int64_t{1} << 30;

// Numbers only: what "same" would leave out depends on what it would be the same as.
Dims read_pad(LayerContext& c, size_t sides) {
  const Json* given = c.settings.json("pad");
  if (given != nullptr && given->kind == Json::Kind::text && is_name(given->text) &&
      !c.settings.scope().find(given->text))
    c.fail_setting(
        "pad",
        fmt::format("'pad' takes one number{}, found {}", sides == 1 ? "" : fmt::format(" or [{}]", sides_text(sides)),
                    describe(*given)),
        "for stride times as many rows: kernel 3 with \"pad\": 1 and \"output_padding\": 1, or kernel 4 with "
        "\"pad\": 1, where the stride is 2");
  return read_sides(c, "pad", sides);
}

// The result is what a convolution with these settings would have read: (i - 1) stride - 2 pad + reach rows, and the
// `output_padding` last ones of those that its stride would have left out.
Dims result_size(LayerContext& c, const Window& w, const Dims& more) {
  const Dims image = image_size(c);
  Dims size;
  for (size_t side = 0; side < image.size(); ++side) {
    const std::string name = side_name(side, image.size());
    if (image[side] > kLargest) c.fail(fmt::format("a {} of {} is more than {}", name, image[side], kLargest));
    const int64_t reach = (w.size[side] - 1) * w.dilations[side] + 1;
    const int64_t rows = (image[side] - 1) * w.strides[side] - 2 * w.pads[side] + reach + more[side];
    if (rows < 1)
      c.fail_setting(
          "pad", fmt::format("padding {} leaves nothing of a {} of {}", w.pads[side], name, rows + 2 * w.pads[side]));
    size.push_back(rows);
  }
  return size;
}

Window read_transposed(LayerContext& c, size_t sides) {
  return {.size = read_sides(c, "kernel", sides),
          .strides = read_sides(c, "stride", sides),
          .dilations = read_sides(c, "dilation", sides),
          .pads = read_pad(c, sides)};
}

Dims read_output_padding(LayerContext& c, const Window& w) {
  Dims more = read_sides(c, "output_padding", w.size.size());
  for (size_t side = 0; side < more.size(); ++side)
    if (more[side] >= w.strides[side])
      c.fail_setting("output_padding", fmt::format("'output_padding' is {}, expected less than the stride, which is {}",
                                                   more[side], w.strides[side]));
  return more;
}

ir::Values build(LayerContext& c, size_t sides) {
  c.require_f32(0);
  require_sides(c, sides);
  const int64_t filters = c.settings.integer("filters"), in = channels(c);
  const int64_t groups = read_groups(c, in, filters);
  Window w = read_transposed(c, sides);
  Dims result = result_size(c, w, read_output_padding(c, w));
  result.insert(result.begin(), c.dims(c.in[0])[0]);
  result.push_back(filters);
  check_size(result, c.node.op_where, c.settings.title());
  const Dims once = w.pads;
  w.pads.insert(w.pads.end(), once.begin(), once.end());
  Dims shape = {in, filters / groups};
  shape.insert(shape.end(), w.size.begin(), w.size.end());
  const ValueId weight = filters_of(c, "weight", shape);
  if (sides == 1) {
    w = over_row(w);
    result.insert(result.begin() + 1, 1);
  }
  const ValueId y = c.emit(
      sides == 3 ? "conv3d_data_grad" : "conv2d_data_grad", {as_row(c, c.to_nhwc(c.in[0]), sides), weight},
      {{"strides", w.strides}, {"pads", w.pads}, {"dilations", w.dilations}, {"groups", groups}, {"input", result}},
      "conv");
  return {c.from_nhwc(c.apply_activation(add_bias(c, from_row(c, y, sides))))};
}

std::vector<Key> transposed_settings(size_t sides) {
  const auto numbers = [&](const char* name, const std::string& what, int64_t low) -> Key {
    Key key{.name = name,
            .type = KeyType::integer,
            .count = Count::several,
            .doc = what + sides_doc(sides),
            .range = ir::between(static_cast<double>(low), kLargest)};
    key.fallback = Dims(sides, low);
    return key;
  };
  Key kernel = numbers("kernel", "window: ", 1);
  kernel.fallback = {};
  kernel.required = true;
  const std::string rows = sides == 1 ? "elements" : sides == 2 ? "rows and columns" : "rows, columns and slices";
  return {kernel,
          numbers("stride", "", 1),
          numbers("pad", rows + " left out at each side: ", 0),
          numbers("output_padding", "more of them after the last: ", 0),
          numbers("dilation", "", 1),
          {.name = "groups",
           .doc = "channels split into groups that do not mix",
           .fallback = int64_t{1},
           .range = ir::at_least(1)}};
}

LayerDef transposed(size_t sides, const std::string& each, const std::string& what, const std::string& kernel) {
  return {
      .name = fmt::format("conv{}d_transpose", sides),
      .doc = fmt::format("each {} adds a multiple of the filters: what a convolution's gradient does to its {}", each,
                         what),
      .settings =
          all_settings({{{.name = "filters", .doc = "output channels", .required = true, .range = ir::at_least(1)}},
                        transposed_settings(sides),
                        filter_settings(/*filters=*/1)}),
      .parameters = fmt::format("weight [in, filters / groups, {}], bias [filters]", kernel),
      .build = [sides](LayerContext& c) { return build(c, sides); },
  };
}

const RegisterLayer conv1d_transpose(transposed(1, "element", "sequence", "k"));
const RegisterLayer conv2d_transpose(transposed(2, "pixel", "image", "kh, kw"));
const RegisterLayer conv3d_transpose(transposed(3, "voxel", "volume", "kd, kh, kw"));

}  // namespace
}  // namespace heddle::frontend
