// upsample2d, resize2d: images of another size.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "frontend/instantiate/instantiate.h"
#include "frontend/layers/window.h"

namespace heddle::frontend {
namespace {

using ir::Dims;
using ir::ValueId;

constexpr int64_t kLargest = int64_t{1} << 30;

// One number for both sides, or [h, w].
Dims read_sides(LayerContext& c, const std::string& setting) {
  Dims sides = c.settings.integers(setting);
  if (sides.size() == 1) sides.push_back(sides[0]);
  if (sides.size() != 2) c.fail_setting(setting, fmt::format("'{}' takes one number or [height, width]", setting));
  return sides;
}

struct Mode {
  bool nearest = false, cubic = false, align_corners = false;
};
Mode read_mode(LayerContext& c) {
  const std::string name = c.settings.text("mode");
  const Mode mode{name == "nearest", name == "bicubic", c.settings.flag("align_corners")};
  if (mode.nearest && mode.align_corners)
    c.fail_setting("align_corners", "'align_corners' says nothing of the nearest pixel",
                   "use \"mode\": \"bilinear\" or \"bicubic\"");
  if (!mode.nearest) c.require_f32(0);
  return mode;
}

// Middles of the outer pixels on one another, or their outer corners: the middle of pixel o is at
// (o + 1/2) in / out - 1/2.
ValueId interpolated(LayerContext& c, ValueId x, int64_t axis, int64_t size, const Mode& mode) {
  const int64_t input = c.dims(x)[static_cast<size_t>(axis)];
  if (input == size) return x;
  constexpr int64_t kMost = int64_t{1} << 24;  // below it places are exact
  if (std::max(input, size) > kMost)
    c.fail(fmt::format("{} pixels become {}, at most {} are interpolated", input, size, kMost));
  int64_t step = 2 * input, offset = input - size, scale = 2 * size;
  if (mode.align_corners) {
    step = size == 1 ? 0 : input - 1;
    offset = 0;
    scale = std::max<int64_t>(size - 1, 1);
  }
  const int64_t common = std::gcd(std::gcd(step, scale), offset);
  return c.emit("resize", {x},
                {{"axis", axis},
                 {"input", input},
                 {"size", size},
                 {"step", step / common},
                 {"offset", offset / common},
                 {"scale", scale / common},
                 {"cubic", mode.cubic}},
                "interpolated");
}

// Pixel o is the one at o in / out, rounded down.
ValueId nearest(LayerContext& c, ValueId x, int64_t axis, int64_t size) {
  const int64_t input = c.dims(x)[static_cast<size_t>(axis)];
  if (input == size) return x;
  const ir::Type places{ir::DType::i64, {size}};
  const ValueId place = c.emit("iota", {}, {{"shape", places.dims}, {"dtype", std::string("i64")}}, "place");
  const ValueId scaled = c.emit("mul", {place, c.constant(static_cast<double>(input), places)}, {}, "scaled");
  const ValueId from = c.emit("div", {scaled, c.constant(static_cast<double>(size), places)}, {}, "from");
  return c.emit("gather", {x, from}, {{"axis", axis}}, "nearest");
}

// Whole numbers of places for each pixel.
ValueId repeated(LayerContext& c, ValueId x, const Dims& scale) {
  const Dims dims = c.dims(x);
  const Dims wide{dims[0], dims[1], scale[0], dims[2], scale[1], dims[3]};
  const ValueId places = c.emit("broadcast", {x}, {{"dims", Dims{0, 1, 3, 5}}, {"shape", wide}}, "places");
  return c.reshape(places, {dims[0], dims[1] * scale[0], dims[2] * scale[1], dims[3]});
}

ValueId interpolated_image(LayerContext& c, ValueId x, const Dims& size, const Mode& mode) {
  return interpolated(c, interpolated(c, x, 1, size[0], mode), 2, size[1], mode);
}

ir::Values build_upsample(LayerContext& c) {
  require_image(c);
  const Dims scale = read_sides(c, "scale"), image = image_size(c);
  check_size({c.dims(c.in[0])[0], image[0], scale[0], image[1], scale[1], channels(c)}, c.settings.where("scale"),
             c.settings.title());
  const Mode mode = read_mode(c);
  const ValueId x = c.to_nhwc(c.in[0]);
  if (mode.nearest) return {c.from_nhwc(repeated(c, x, scale))};
  return {c.from_nhwc(interpolated_image(c, x, {image[0] * scale[0], image[1] * scale[1]}, mode))};
}

ir::Values build_resize(LayerContext& c) {
  require_image(c);
  const Dims size = read_sides(c, "size"), image = image_size(c);
  check_size({c.dims(c.in[0])[0], size[0], size[1], channels(c)}, c.settings.where("size"), c.settings.title());
  const Mode mode = read_mode(c);
  const ValueId x = c.to_nhwc(c.in[0]);
  if (mode.nearest) return {c.from_nhwc(nearest(c, nearest(c, x, 1, size[0]), 2, size[1]))};
  return {c.from_nhwc(interpolated_image(c, x, size, mode))};
}

LayerDef resized(const std::string& name, const std::string& doc, const Key& size,
                 std::function<ir::Values(LayerContext&)> build) {
  return {.name = name,
          .doc = doc,
          .settings = {size,
                       {.name = "mode",
                        .type = KeyType::text,
                        .doc = "nearest, bilinear or bicubic",
                        .fallback = std::string("nearest"),
                        .words = {"nearest", "bilinear", "bicubic"}},
                       {.name = "align_corners",
                        .type = KeyType::flag,
                        .doc = "the middles of the outer pixels stay where they are",
                        .fallback = false}},
          .build = std::move(build)};
}

const RegisterLayer upsample2d(
    resized("upsample2d", "each pixel scale times as high and wide",
            {.name = "scale",
             .type = KeyType::integer,
             .count = Count::several,
             .doc = "one number or [h, w]",
             .required = true,
             .range = ir::between(1, kLargest),
             // PyTorch's scale_factor may be a fraction.
             .hint = R"(an image of any size is made by {"op": "resize2d", "size": [HEIGHT, WIDTH]})"},
            build_upsample));
const RegisterLayer resize2d(resized("resize2d", "an image of another size",
                                     {.name = "size",
                                      .type = KeyType::integer,
                                      .count = Count::several,
                                      .doc = "one number or [h, w]",
                                      .required = true,
                                      .range = ir::between(1, kLargest)},
                                     build_resize));

}  // namespace
}  // namespace heddle::frontend
