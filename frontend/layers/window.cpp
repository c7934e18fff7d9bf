#include "frontend/layers/window.h"

#include <fmt/format.h>

#include <algorithm>

namespace heddle::frontend {

using ir::Dims;

namespace {

// Of a window, stride, dilation or padding: sums of their products stay in 64 bits.
constexpr int64_t kLargest = int64_t{1} << 30;

const char* side_name(const Dims& image, size_t side) {
  constexpr const char* kSides[] = {"height", "width"};
  return image.size() == 1 ? "length" : kSides[side];
}

// One number for both sides, or [h, w]. Of a sequence one number.
Dims read_sides(LayerContext& c, const std::string& setting, size_t count) {
  Dims sides = c.settings.integers(setting);
  if (sides.size() == 1) sides.resize(count, sides[0]);
  if (sides.size() != count)
    c.fail_setting(setting, fmt::format("'{}' takes one number{}", setting, count == 1 ? "" : " or [height, width]"));
  return sides;
}

// Padding so that the output has ceil(input / stride) rows; the odd one goes after.
Dims same_padding(const Dims& image, const Window& w) {
  const size_t sides = image.size();
  Dims pads(2 * sides);
  for (size_t side = 0; side < sides; ++side) {
    const int64_t reach = (w.size[side] - 1) * w.dilations[side] + 1;
    const int64_t outputs = (image[side] + w.strides[side] - 1) / w.strides[side];
    const int64_t total = std::max<int64_t>((outputs - 1) * w.strides[side] + reach - image[side], 0);
    pads[side] = total / 2;
    pads[side + sides] = total - total / 2;
  }
  return pads;
}

Dims read_pads(LayerContext& c, const Dims& image, const Window& w) {
  const Json* given = c.settings.json("pad");
  const size_t sides = image.size();
  if (given == nullptr) return Dims(2 * sides, 0);
  if (given->kind == Json::Kind::text && given->text == "valid") return Dims(2 * sides, 0);
  if (given->kind == Json::Kind::text && given->text == "same") return same_padding(image, w);
  if (given->kind == Json::Kind::text && is_name(given->text) && !c.settings.scope().find(given->text)) {
    c.fail_setting("pad", fmt::format("'pad': expected \"valid\", \"same\" or numbers, found {}", describe(*given)),
                   suggest_word(given->text, {"valid", "same"}));
  }
  Dims p = c.settings.integers("pad");
  if (p.size() == 1) return Dims(2 * sides, p[0]);
  if (sides == 1) {
    if (p.size() == 2) return p;
    c.fail_setting("pad", "'pad' takes \"valid\", \"same\", one number or [before, after]");
  }
  if (p.size() == 2) return {p[0], p[1], p[0], p[1]};
  if (p.size() == 4) return {p[0], p[2], p[1], p[3]};  // written [top, bottom, left, right]
  c.fail_setting("pad", "'pad' takes \"valid\", \"same\", one number, [h, w] or [top, bottom, left, right]");
}

// Where the image has no spare rows a kernel must fit in, say so in the user's numbers.
void check_fit(LayerContext& c, const std::string& size, const Dims& image, const Window& w) {
  for (size_t side = 0; side < image.size(); ++side) {
    const int64_t reach = (w.size[side] - 1) * w.dilations[side] + 1;
    const int64_t padded = image[side] + w.pads[side] + w.pads[side + image.size()];
    if (reach <= padded) continue;
    const std::string padding = padded == image[side] ? "" : fmt::format(" with padding {}", padded - image[side]);
    const std::string what =
        reach == w.size[side] ? fmt::format("{} {}", size, reach) : fmt::format("{} {} (dilated)", size, reach);
    c.fail_setting(size,
                   fmt::format("{} is larger than input {} {}{}", what, side_name(image, side), image[side], padding),
                   "use \"pad\": \"same\", or drop one pooling layer");
  }
}

}  // namespace

void require_image(LayerContext& c) {
  c.require_floating(0);
  c.require_rank(0, 4, 4,
                 c.layout == ImageLayout::nhwc ? "an image [N, height, width, channels]"
                                               : "an image [N, channels, height, width]");
}

void require_sequence(LayerContext& c) {
  c.require_floating(0);
  c.require_rank(
      0, 3, 3, c.layout == ImageLayout::nhwc ? "a sequence [N, length, channels]" : "a sequence [N, channels, length]");
}

Dims image_size(const LayerContext& c) {
  const Dims& d = c.dims(c.in[0]);
  return c.layout == ImageLayout::nhwc ? Dims(d.begin() + 1, d.end() - 1) : Dims(d.begin() + 2, d.end());
}

int64_t channels(const LayerContext& c) {
  const Dims& d = c.dims(c.in[0]);
  return c.layout == ImageLayout::nhwc ? d.back() : d[1];
}

Window over_row(const Window& w) {
  return {.size = {1, w.size[0]},
          .strides = {1, w.strides[0]},
          .dilations = {1, w.dilations[0]},
          .pads = {0, w.pads[0], 0, w.pads[1]}};
}

std::vector<Key> window_settings(const std::string& size, bool sequence) {
  const std::string sides = sequence ? "one number" : "one number or [h, w]";
  return {{.name = size,
           .type = KeyType::integer,
           .count = Count::several,
           .doc = "window: " + sides,
           .required = true,
           .range = ir::between(1, kLargest)},
          {.name = "stride",
           .type = KeyType::integer,
           .count = Count::several,
           .doc = sides,
           .range = ir::between(1, kLargest)},
          {.name = "pad",
           .type = KeyType::padding,
           .doc = sequence ? "same, one number or [before, after]: valid"
                           : "same, one number, [h, w] or [top, bottom, left, right]: valid",
           .range = ir::between(0, kLargest)}};
}

Window read_window(LayerContext& c, const std::string& size, bool stride_is_window, bool dilated, const Dims& image) {
  Window w;
  const size_t sides = image.size();
  w.size = read_sides(c, size, sides);
  w.strides = !stride_is_window || c.settings.has("stride") ? read_sides(c, "stride", sides) : w.size;
  w.dilations = dilated ? read_sides(c, "dilation", sides) : Dims(sides, 1);
  w.pads = read_pads(c, image, w);
  check_fit(c, size, image, w);
  return w;
}

}  // namespace heddle::frontend
