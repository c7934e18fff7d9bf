#include <fmt/format.h>

#include "frontend/expand.h"
#include "frontend/window.h"

namespace heddle::frontend {
namespace {

using ir::Dims;
using ir::ValueId;

constexpr int64_t kLargest = int64_t{1} << 30;

// One number for both sides, or [h, w].
Dims read_scale(LayerContext& c) {
  Dims scale = c.settings.integers("scale");
  if (scale.size() == 1) scale.push_back(scale[0]);
  if (scale.size() != 2) c.fail_setting("scale", "'scale' takes one number or [height, width]");
  for (const int64_t side : scale)
    if (side < 1 || side > kLargest)
      c.fail_setting("scale", fmt::format("'scale' must be between 1 and {}, is {}", kLargest, side));
  const Dims image = image_size(c);
  check_size({c.dims(c.in[0])[0], image[0], scale[0], image[1], scale[1], channels(c)}, c.settings.where("scale"),
             c.settings.title());
  return scale;
}

// `axis` becomes two: what was along it, and `count` places for each element of it.
ValueId with_places(LayerContext& c, ValueId v, size_t axis, int64_t count) {
  Dims dims = c.dims(v), kept;
  dims.insert(dims.begin() + static_cast<int64_t>(axis) + 1, count);
  for (int64_t d = 0; d < std::ssize(dims); ++d)
    if (d != static_cast<int64_t>(axis) + 1) kept.push_back(d);
  return c.emit("broadcast", {v}, {{"dims", kept}, {"shape", dims}}, "places");
}

// And one again.
ValueId joined(LayerContext& c, ValueId v, size_t axis) {
  Dims dims = c.dims(v);
  dims[axis] *= dims[axis + 1];
  dims.erase(dims.begin() + static_cast<int64_t>(axis) + 1);
  return c.reshape(v, dims, "joined");
}

// The element before or after along `axis`; that at the end is its own neighbour.
ValueId neighbour(LayerContext& c, ValueId x, size_t axis, bool after) {
  const Dims dims = c.dims(x);
  if (dims[axis] == 1) return x;
  const auto part = [&](int64_t from, int64_t to, std::string_view suffix) {
    Dims starts(dims.size(), 0), limits = dims;
    starts[axis] = from;
    limits[axis] = to;
    return c.emit("slice", {x}, {{"starts", starts}, {"limits", limits}}, suffix);
  };
  const int64_t n = dims[axis];
  const ir::Values parts = after ? ir::Values{part(1, n, "later"), part(n - 1, n, "last")}
                                 : ir::Values{part(0, 1, "first"), part(0, n - 1, "earlier")};
  return c.emit("concat", parts, {{"axis", static_cast<int64_t>(axis)}}, after ? "after" : "before");
}

// Place p of s lies at (p + 1/2) / s - 1/2 from the middle of its element: a negative distance -t takes the part t of the
// element before, a positive one that of the element after.
ValueId interpolated(LayerContext& c, ValueId x, size_t axis, int64_t s) {
  if (s == 1) return x;
  const ir::Type places{ir::DType::f32, {s}};
  const ValueId place = c.emit("iota", {}, {{"shape", places.dims}, {"dtype", std::string("f32")}}, "place");
  const ValueId middle = c.emit("add", {place, c.constant(0.5 - 0.5 * static_cast<double>(s), places)}, {}, "middle");
  const ValueId t = c.emit("div", {middle, c.constant(static_cast<double>(s), places)}, {}, "distance");
  const ValueId after = c.emit("relu", {t}, {}, "share"), before = c.emit("relu", {c.emit("neg", {t})}, {}, "share");
  const auto weighed = [&](ValueId v, ValueId share) {
    const ValueId wide = with_places(c, v, axis, s);
    const Dims dims = c.dims(wide);
    const ValueId shares =
        c.emit("broadcast", {share}, {{"dims", Dims{static_cast<int64_t>(axis) + 1}}, {"shape", dims}}, "shares");
    return c.emit("mul", {wide, shares}, {}, "part");
  };
  const ValueId own = c.emit("sub", {c.constant(1, places), c.emit("abs", {t})}, {}, "share");
  const ValueId sides = c.emit(
      "add", {weighed(neighbour(c, x, axis, false), before), weighed(neighbour(c, x, axis, true), after)}, {}, "sides");
  return joined(c, c.emit("add", {weighed(x, own), sides}, {}, "interpolated"), axis);
}

ir::Values build(LayerContext& c) {
  require_image(c);
  const Dims scale = read_scale(c);
  const std::string mode = c.settings.text("mode");
  if (mode != "nearest" && mode != "bilinear")
    c.fail_setting("mode", fmt::format("'mode' is \"nearest\" or \"bilinear\", not {}", quote(mode)));
  ValueId x = c.to_nhwc(c.in[0]);
  const Dims dims = c.dims(x);
  if (mode == "bilinear") {
    c.require_f32(0);
    return {c.from_nhwc(interpolated(c, interpolated(c, x, 1, scale[0]), 2, scale[1]))};
  }
  const Dims wide{dims[0], dims[1], scale[0], dims[2], scale[1], dims[3]};
  x = c.emit("broadcast", {x}, {{"dims", Dims{0, 1, 3, 5}}, {"shape", wide}}, "places");
  return {c.from_nhwc(c.reshape(x, {dims[0], dims[1] * scale[0], dims[2] * scale[1], dims[3]}))};
}

const RegisterLayer upsample2d({
    .name = "upsample2d",
    .doc = "each pixel scale times as high and wide; bilinear: between the middles of the pixels, beyond the last ones "
           "as they",
    .settings =
        {{.name = "scale", .type = SettingType::integers, .doc = "one number or [h, w]", .required = true},
         {.name = "mode", .type = SettingType::text, .doc = "nearest or bilinear", .fallback = std::string("nearest")}},
    .build = build,
});

}  // namespace
}  // namespace heddle::frontend
