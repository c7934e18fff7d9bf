#include "frontend/layers/window.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace heddle::frontend {

using ir::Dims;

namespace {

// Of a window, stride, dilation or padding: sums of their products stay in 64 bits.
constexpr int64_t kLargest = int64_t{1} << 30;

// Written [before, after] for each side; in the IR all that lie before come first.
Dims by_sides(const Dims& written) {
  Dims pads;
  for (const size_t after : {size_t{0}, size_t{1}})
    for (size_t i = after; i < written.size(); i += 2) pads.push_back(written[i]);
  return pads;
}

std::string pads_text(size_t sides) {
  if (sides == 1) return "one number or [before, after]";
  return sides == 2 ? "one number, [h, w] or [top, bottom, left, right]"
                    : "one number, [d, h, w] or [front, back, top, bottom, left, right]";
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
  if (p.size() == 2 * sides) return by_sides(p);
  if (p.size() != sides) c.fail_setting("pad", fmt::format("'pad' takes \"valid\", \"same\", {}", pads_text(sides)));
  p.insert(p.end(), p.begin(), p.begin() + static_cast<ptrdiff_t>(sides));
  return p;
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
    c.fail_setting(
        size, fmt::format("{} is larger than input {} {}{}", what, side_name(side, image.size()), image[side], padding),
        "use \"pad\": \"same\", or drop one pooling layer");
  }
}

}  // namespace

std::string side_name(size_t side, size_t sides) {
  if (sides == 1) return "length";
  constexpr std::array<const char*, 3> kSides = {"depth", "height", "width"};
  return kSides.at(side + kSides.size() - sides);
}

std::string sides_text(size_t sides) {
  std::string text;
  for (size_t side = 0; side < sides; ++side) text += (side == 0 ? "" : ", ") + side_name(side, sides);
  return text;
}

std::string sides_doc(size_t sides) {
  if (sides == 1) return "one number";
  return sides == 2 ? "one number or [h, w]" : "one number or [d, h, w]";
}

Dims read_sides(LayerContext& c, const std::string& setting, size_t sides) {
  Dims read = c.settings.integers(setting);
  if (read.size() == 1) read.resize(sides, read[0]);
  if (read.size() != sides)
    c.fail_setting(setting, fmt::format("'{}' takes one number{}", setting,
                                        sides == 1 ? "" : fmt::format(" or [{}]", sides_text(sides))));
  return read;
}

void require_sides(LayerContext& c, size_t sides) {
  c.require_floating(0);
  const auto rank = static_cast<int64_t>(sides) + 2;
  const std::string what = sides == 1 ? "a sequence" : sides == 2 ? "an image" : "a volume", text = sides_text(sides);
  c.require_rank(
      0, rank, rank,
      what + (c.layout == ImageLayout::nhwc ? " [N, " + text + ", channels]" : " [N, channels, " + text + "]"));
}

void require_image(LayerContext& c) { require_sides(c, 2); }

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

std::vector<Key> window_settings(const std::string& size, size_t sides) {
  const std::string doc = sides_doc(sides);
  return {{.name = size,
           .type = KeyType::integer,
           .count = Count::several,
           .doc = "window: " + doc,
           .required = true,
           .range = ir::between(1, kLargest)},
          {.name = "stride",
           .type = KeyType::integer,
           .count = Count::several,
           .doc = doc,
           .range = ir::between(1, kLargest)},
          {.name = "pad",
           .type = KeyType::padding,
           .doc = "same, " + pads_text(sides) + ": valid",
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
