// unfold and fold, by torch.nn.Unfold and Fold: an image's windows as channels, and the sum of such windows. Channel
// (c height + i) width + j is channel c at row i and column j of the window, as in PyTorch, whose last axis holds the
// windows of both sides in one.
#include <fmt/format.h>

#include "frontend/layers/window.h"

namespace heddle::frontend {
namespace {

using ir::Dims;
using ir::ValueId;

constexpr int64_t kMostParts = 256;  // elements of a side of windows that overlap: each is a slice

// The windows along one side.
struct Side {
  int64_t axis, size, stride, dilation, count;

  // Their elements are all elements, in order.
  bool are_neighbours() const { return dilation == 1 && (stride == size || count == 1); }
  int64_t first(int64_t i) const { return i * dilation; }
  int64_t behind(int64_t i) const { return i * dilation + (count - 1) * stride + 1; }
};

Side side_of(LayerContext& c, const Window& w, size_t i, int64_t padded, int64_t axis) {
  const int64_t reach = (w.size[i] - 1) * w.dilations[i] + 1;
  const Side side = {axis, w.size[i], w.strides[i], w.dilations[i], (padded - reach) / w.strides[i] + 1};
  if (!side.are_neighbours() && side.size > kMostParts)
    c.fail_setting("kernel", fmt::format("windows of {} elements along a side overlap, expected at most {}", side.size,
                                         kMostParts));
  return side;
}

// [.., n, ..] -> [.., windows, elements of a window, ..]
ValueId cut(LayerContext& c, ValueId v, const Side& s) {
  Dims split = c.dims(v);
  const auto at = split.begin() + s.axis;
  *at = s.size;
  split.insert(at, s.count);
  if (s.are_neighbours()) return c.reshape(c.slice(v, s.axis, 0, s.count * s.size, "whole"), split, "windows");
  split[static_cast<size_t>(s.axis) + 1] = 1;
  ir::Values parts;
  for (int64_t i = 0; i < s.size; ++i)
    parts.push_back(c.reshape(c.slice(v, s.axis, s.first(i), s.behind(i), "part", s.stride), split, "element"));
  return parts.size() == 1 ? parts[0] : c.emit("concat", parts, {{"axis", s.axis + 1}}, "windows");
}

// [.., windows, elements of a window, ..] -> [.., n, ..], where elements of several windows are added.
ValueId add_up(LayerContext& c, ValueId v, const Side& s, int64_t n) {
  Dims dims = c.dims(v);
  dims.erase(dims.begin() + s.axis + 1);
  const auto placed = [&](ValueId part, int64_t first, int64_t behind, int64_t apart) {
    Dims low(dims.size(), 0), high = low, interior = low;
    const auto d = static_cast<size_t>(s.axis);
    low[d] = first, high[d] = n - behind, interior[d] = apart;
    return c.emit("pad", {part}, {{"low", low}, {"high", high}, {"interior", interior}}, "placed");
  };
  if (s.are_neighbours()) {
    dims[static_cast<size_t>(s.axis)] = s.count * s.size;
    return placed(c.reshape(v, dims, "whole"), 0, s.count * s.size, 0);
  }
  ValueId sum;
  for (int64_t i = 0; i < s.size; ++i) {
    const ValueId part = c.reshape(c.slice(v, s.axis + 1, i, i + 1, "element"), dims, "part");
    const ValueId own = placed(part, s.first(i), s.behind(i), s.stride - 1);
    sum = sum.valid() ? c.emit("add", {sum, own}, {}, "sum") : own;
  }
  return sum;
}

Dims padded(const Dims& image, const Window& w) {
  return {image[0] + w.pads[0] + w.pads[2], image[1] + w.pads[1] + w.pads[3]};
}

ir::Values build_unfold(LayerContext& c) {
  require_image(c);
  const Window w = read_window(c, "kernel", /*stride_is_window=*/false, /*dilated=*/true, image_size(c));
  const Dims size = padded(image_size(c), w);
  const ValueId x = c.to_nhwc(c.in[0]);
  const Dims d = c.dims(x);
  const ValueId whole = c.emit(
      "pad", {x}, {{"low", Dims{0, w.pads[0], w.pads[1], 0}}, {"high", Dims{0, w.pads[2], w.pads[3], 0}}}, "padded");
  const Side down = side_of(c, w, 0, size[0], 1), across = side_of(c, w, 1, size[1], 3);
  const ValueId windows = cut(c, cut(c, whole, down), across);  // [N, windows, height, windows, width, channels]
  const ValueId moved = c.emit("transpose", {windows}, {{"perm", Dims{0, 1, 3, 5, 2, 4}}}, "channels_first");
  return {c.from_nhwc(c.reshape(moved, {d[0], down.count, across.count, d[3] * down.size * across.size}))};
}

ir::Values build_fold(LayerContext& c) {
  require_image(c);
  const Dims image = read_sides(c, "size", 2), windows = image_size(c);
  const Window w = read_window(c, "kernel", /*stride_is_window=*/false, /*dilated=*/true, image);
  const Dims size = padded(image, w);
  const Side down = side_of(c, w, 0, size[0], 1), across = side_of(c, w, 1, size[1], 3);
  if (windows != Dims{down.count, across.count})
    c.fail_setting("size", fmt::format("{} x {} windows make an image of {} x {}, found {} x {}", down.count,
                                       across.count, image[0], image[1], windows[0], windows[1]));
  const int64_t area = down.size * across.size;
  if (channels(c) % area != 0)
    c.fail_setting("kernel", fmt::format("{} channels are not a multiple of the window's {}", channels(c), area));
  const ValueId x = c.to_nhwc(c.in[0]);
  const Dims d = c.dims(x);
  const ValueId parts = c.reshape(x, {d[0], d[1], d[2], d[3] / area, down.size, across.size}, "windows");
  const ValueId moved = c.emit("transpose", {parts}, {{"perm", Dims{0, 1, 4, 2, 5, 3}}}, "channels_last");
  const ValueId whole = add_up(c, add_up(c, moved, across, size[1]), down, size[0]);
  const ValueId rows = c.slice(whole, 1, w.pads[0], w.pads[0] + image[0], "rows");
  return {c.from_nhwc(c.slice(rows, 2, w.pads[1], w.pads[1] + image[1], "image"))};
}

std::vector<Key> settings() {
  std::vector<Key> all = window_settings("kernel", 2);
  all[1].fallback = Dims{1, 1};
  all.push_back({.name = "dilation",
                 .type = KeyType::integer,
                 .count = Count::several,
                 .doc = "distance of a window's elements: " + sides_doc(2),
                 .fallback = Dims{1, 1},
                 .range = all[1].range});
  return all;
}

std::vector<Key> fold_settings() {
  std::vector<Key> all = settings();
  all.insert(all.begin(), {.name = "size",
                           .type = KeyType::integer,
                           .count = Count::several,
                           .doc = "of the image: " + sides_doc(2),
                           .required = true,
                           .range = all[0].range});
  return all;
}

const RegisterLayer unfold({.name = "unfold",
                            .doc = "each window of an image as a pixel: its channels are those of the window's pixels, "
                                   "all pixels of the first channel first",
                            .settings = settings(),
                            .build = build_unfold});
const RegisterLayer fold({.name = "fold",
                          .doc = "the image whose windows are pixels as unfold makes them; where windows overlap, they "
                                 "are added",
                          .settings = fold_settings(),
                          .build = build_fold});

}  // namespace
}  // namespace heddle::frontend
