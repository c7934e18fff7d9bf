#include "frontend/window.h"

#include <fmt/format.h>

#include <algorithm>

namespace heddle::frontend {

using ir::Dims;

namespace {

// Of a window, stride, dilation or padding: sums of their products stay in 64 bits.
constexpr int64_t kLargest = int64_t{1} << 30;
constexpr const char* kSide[] = {"height", "width"};

// One number for both sides, or [h, w]; each at least 1.
Dims both_sides(LayerContext& c, const std::string& setting) {
  Dims sides = c.settings.integers(setting);
  if (sides.size() == 1) sides.push_back(sides[0]);
  if (sides.size() != 2) c.fail_setting(setting, fmt::format("'{}' takes one number or [height, width]", setting));
  for (const int64_t side : sides) {
    if (side < 1 || side > kLargest) {
      c.fail_setting(setting, fmt::format("'{}' must be between 1 and {}, is {}", setting, kLargest, side));
    }
  }
  return sides;
}

// Padding so that the output has ceil(input / stride) rows; the odd one goes after.
Dims same_padding(const Dims& image, const Window& w) {
  Dims pads(4);
  for (size_t side = 0; side < 2; ++side) {
    const int64_t reach = (w.size[side] - 1) * w.dilations[side] + 1;
    const int64_t outputs = (image[side] + w.strides[side] - 1) / w.strides[side];
    const int64_t total = std::max<int64_t>((outputs - 1) * w.strides[side] + reach - image[side], 0);
    pads[side] = total / 2;
    pads[side + 2] = total - total / 2;
  }
  return pads;
}

Dims read_pads(LayerContext& c, const Dims& image, const Window& w) {
  const Json* given = c.settings.json("pad");
  if (given == nullptr) return {0, 0, 0, 0};
  if (given->kind == Json::Kind::text && given->text == "valid") return {0, 0, 0, 0};
  if (given->kind == Json::Kind::text && given->text == "same") return same_padding(image, w);
  if (given->kind == Json::Kind::text && is_name(given->text) && !c.settings.scope().find(given->text)) {
    c.fail_setting("pad", fmt::format("'pad': expected \"valid\", \"same\" or numbers, found {}", describe(*given)));
  }
  const Dims p = c.settings.integers("pad");
  for (const int64_t side : p) {
    if (side < 0 || side > kLargest) {
      c.fail_setting("pad", fmt::format("'pad' must be between 0 and {}, is {}", kLargest, side));
    }
  }
  if (p.size() == 1) return {p[0], p[0], p[0], p[0]};
  if (p.size() == 2) return {p[0], p[1], p[0], p[1]};
  if (p.size() == 4) return {p[0], p[2], p[1], p[3]};  // written [top, bottom, left, right]
  c.fail_setting("pad", "'pad' takes \"valid\", \"same\", one number, [h, w] or [top, bottom, left, right]");
}

// Where the image has no spare rows a kernel must fit in, say so in the user's numbers.
void check_fit(LayerContext& c, const std::string& size, const Dims& image, const Window& w) {
  for (size_t side = 0; side < 2; ++side) {
    const int64_t reach = (w.size[side] - 1) * w.dilations[side] + 1;
    const int64_t padded = image[side] + w.pads[side] + w.pads[side + 2];
    if (reach <= padded) continue;
    const std::string padding = padded == image[side] ? "" : fmt::format(" with padding {}", padded - image[side]);
    const std::string what =
        reach == w.size[side] ? fmt::format("{} {}", size, reach) : fmt::format("{} {} (dilated)", size, reach);
    c.fail_setting(size, fmt::format("{} is larger than input {} {}{}", what, kSide[side], image[side], padding),
                   "use \"pad\": \"same\", or drop one pooling layer");
  }
}

}  // namespace

Dims image_size(const LayerContext& c) {
  const Dims& d = c.dims(c.in[0]);
  return c.layout == Layout::nhwc ? Dims{d[1], d[2]} : Dims{d[2], d[3]};
}

int64_t channels(const LayerContext& c) {
  const Dims& d = c.dims(c.in[0]);
  return c.layout == Layout::nhwc ? d[3] : d[1];
}

Window read_window(LayerContext& c, const std::string& size, bool stride_is_window, bool dilated, const Dims& image) {
  Window w;
  w.size = both_sides(c, size);
  w.strides = !stride_is_window || c.settings.has("stride") ? both_sides(c, "stride") : w.size;
  w.dilations = dilated ? both_sides(c, "dilation") : Dims{1, 1};
  w.pads = read_pads(c, image, w);
  check_fit(c, size, image, w);
  return w;
}

}  // namespace heddle::frontend
