#include "ir/ops/window.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

namespace heddle::ir {

const Dims& checked_list(const Signature& s, std::string_view name, size_t size, int64_t low) {
  const Dims& list = s.integers(name);
  if (list.size() != size) throw InferError(fmt::format("{} has {} entries, expected {}", name, list.size(), size));
  for (const int64_t value : list)
    if (value < low || value >= int64_t{1} << 31)
      throw InferError(fmt::format("{} is {}, expected entries of {} or more", name, to_string(list), low));
  return list;
}

void require_image(const Type& type, size_t axes, const std::string& what) {
  if (type.dims.size() != axes + 2)
    throw InferError(fmt::format("{} is {}, expected rank {}", what, to_string(type), axes + 2));
}

std::string side_name(size_t side, size_t axes) {
  constexpr std::array<const char*, 3> kSides = {"depth", "height", "width"};
  return kSides.at(side + kSides.size() - axes);
}

Dims sizes_of(const std::vector<Window>& axes) {
  Dims sizes;
  for (const Window& w : axes) sizes.push_back(w.size);
  return sizes;
}

namespace {

// How far a dilated window reaches, for messages.
std::string spans(const Window& w) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  if (w.dilation == 1) return "";
  if (w.size - 1 > (kMost - 1) / w.dilation) return fmt::format(" (with dilation {})", w.dilation);
  return fmt::format(" (spans {} with dilation {})", (w.size - 1) * w.dilation + 1, w.dilation);
}

Dims pooled(const Pool& p, const Dims& image) {
  Dims dims = {image[0]};
  for (const Window& w : p.axes) dims.push_back(w.output);
  dims.push_back(image.back());
  return dims;
}

}  // namespace

Window placed(Window w, const std::string& what, const std::string& side) {
  const int64_t padded = w.input + w.low + w.high;
  if (padded < 1 || w.size - 1 > (padded - 1) / w.dilation) {  // reach > padded, without overflow
    const std::string pads = w.low + w.high > 0 ? fmt::format(" (padded to {})", padded) : "";
    throw InferError(fmt::format("{} {}{} is larger than input {} {}{}", what, w.size, spans(w), side, w.input, pads));
  }
  const int64_t reach = (w.size - 1) * w.dilation + 1;
  w.output = (padded - reach) / w.stride + 1;
  return w;
}

void read_input(IndexMap& map, const Window& w, int out, int tap) {
  const IndexExpr at = IndexExpr::dim(out) * w.stride + IndexExpr::dim(tap) * w.dilation - IndexExpr(w.low);
  map.add_guard(at, 0, w.input);
  map.results.push_back(at);
}

std::vector<Key> with_shape(std::vector<Key> attrs, const std::string& name, const std::string& doc) {
  attrs.push_back({.name = name, .type = KeyType::integer, .count = Count::several, .doc = doc, .required = true});
  return attrs;
}

Attrs with_shape(Attrs attrs, const std::string& name, const Dims& shape) {
  attrs[name] = shape;
  return attrs;
}

Attrs without_shape(Attrs attrs, const std::string& name) {
  attrs.erase(name);
  return attrs;
}

std::vector<Key> pool_attributes(size_t axes) {
  const bool image = axes == 2;
  return {{.name = "window",
           .type = KeyType::integer,
           .count = Count::several,
           .doc = image ? "height and width" : "depth, height and width",
           .required = true},
          {.name = "strides",
           .type = KeyType::integer,
           .count = Count::several,
           .doc = image ? "steps down and right; none: the window" : "steps along each axis; none: the window",
           .fallback = Dims{}},
          {.name = "pads",
           .type = KeyType::integer,
           .count = Count::several,
           .doc = image ? "top, left, bottom, right" : "before each axis, then behind each axis",
           .fallback = Dims(2 * axes, 0)},
          {.name = "dilations",
           .type = KeyType::integer,
           .count = Count::several,
           .doc = "distance of the window's elements",
           .fallback = Dims(axes, 1)}};
}

std::vector<Key> pool_gradient_attributes(size_t axes) {
  return with_shape(pool_attributes(axes), "input", axes == 2 ? "shape of the image" : "shape of the volume");
}

void check_reach(const Window& w, const Dims& pads, const Dims& window) {
  const int64_t most = std::max(w.low, w.high),
                passed = (most + w.dilation - 1) / w.dilation;  // elements in the padding
  if (passed >= w.size)
    throw InferError(fmt::format("pads {} reach over the window {}{}", to_string(pads), to_string(window), spans(w)));
  if (most > 0 && w.dilation > w.input)
    throw InferError(fmt::format("dilation {} steps over an image of {}, a window may lie in the padding alone",
                                 w.dilation, w.input));
}

Pool pool(const Signature& s, size_t axes, const Dims& image) {
  const Dims& window = checked_list(s, "window", axes, 1);
  const Dims& strides = s.integers("strides").empty() ? window : checked_list(s, "strides", axes, 1);
  const Dims& pads = checked_list(s, "pads", 2 * axes, 0);
  const Dims& dilations = checked_list(s, "dilations", axes, 1);
  Pool p;
  for (size_t i = 0; i < axes; ++i) {
    const Window w{.size = window[i],
                   .stride = strides[i],
                   .dilation = dilations[i],
                   .low = pads[i],
                   .high = pads[i + axes],
                   .input = image[i + 1]};
    check_reach(w, pads, window);
    p.axes.push_back(placed(w, "window", side_name(i, axes)));
  }
  return p;
}

Dims pooled_operand(const Signature& s, size_t axes) {
  require_image(s.operands[0], axes, "input");
  return pooled(pool(s, axes, s.operands[0].dims), s.operands[0].dims);
}

Dims pool_gradient_image(const Signature& s, size_t axes) {
  const Dims& image = checked_list(s, "input", axes + 2, 1);
  const Dims expected = pooled(pool(s, axes, image), image);
  if (s.operands[0].dims != expected)
    throw InferError(
        fmt::format("dy is {}, pooling {} gives {}", to_string(s.operands[0]), to_string(image), to_string(expected)));
  return image;
}

ReductionDomain pool_domain(const Signature& s, size_t axes, int extra) {
  const Dims& image = s.operands[0].dims;
  const Pool p = pool(s, axes, image);
  const int rank = static_cast<int>(axes) + 2;
  ReductionDomain domain;
  domain.extents = sizes_of(p.axes);
  IndexMap map;
  map.extents = pooled(p, image);
  map.extents.insert(map.extents.end(), domain.extents.begin(), domain.extents.end());
  IndexMap same = map;
  for (int d = 0; d < rank; ++d) same.results.push_back(IndexExpr::dim(d));
  map.results.push_back(IndexExpr::dim(0));
  for (size_t i = 0; i < axes; ++i) read_input(map, p.axes[i], static_cast<int>(i) + 1, rank + static_cast<int>(i));
  map.results.push_back(IndexExpr::dim(rank - 1));
  domain.maps.push_back(std::move(map));
  domain.maps.insert(domain.maps.end(), static_cast<size_t>(extra), same);
  return domain;
}

namespace {

// Along one axis, input element i lies in window floor((i + low) / stride) at position (i + low) mod stride, and in the
// `candidate` windows before it one stride further on each time.
IndexExpr read_dense_window(IndexMap& map, const Window& w, int input, int candidate) {
  const IndexExpr padded = IndexExpr::dim(input) + IndexExpr(w.low);
  const IndexExpr window = floor_div(padded, w.stride, map.extents) - IndexExpr::dim(candidate);
  IndexExpr tap = modulo(padded, w.stride, map.extents) + IndexExpr::dim(candidate) * w.stride;
  map.add_guard(window, 0, w.output);
  map.add_guard(tap, 0, w.size);
  map.results.push_back(window);
  return tap;
}

// With dilation: as the element `tap` of the window that begins tap * dilation before it, where one does. Whole strides
// are added so that what is divided is not negative.
IndexExpr read_dilated_window(IndexMap& map, const Window& w, int input, int tap) {
  const int64_t strides = ((w.size - 1) * w.dilation + w.stride - 1) / w.stride;
  const IndexExpr begin =
      IndexExpr::dim(input) - IndexExpr::dim(tap) * w.dilation + IndexExpr(w.low + strides * w.stride);
  const IndexExpr window = floor_div(begin, w.stride, map.extents) - IndexExpr(strides);
  if (w.stride > 1) map.add_guard(modulo(begin, w.stride, map.extents), 0, 1);
  map.add_guard(window, 0, w.output);
  map.results.push_back(window);
  return IndexExpr::dim(tap);
}

IndexExpr read_window(IndexMap& map, const Window& w, int input, int candidate) {
  return w.dilation == 1 ? read_dense_window(map, w, input, candidate) : read_dilated_window(map, w, input, candidate);
}

int64_t candidates(const Window& w) { return w.dilation == 1 ? (w.size + w.stride - 1) / w.stride : w.size; }

}  // namespace

ReductionDomain pool_gradient_domain(const Signature& s, size_t axes, int operands) {
  const Dims& image = s.integers("input");
  const Pool p = pool(s, axes, image);
  const int rank = static_cast<int>(axes) + 2;
  ReductionDomain domain;
  for (const Window& w : p.axes) domain.extents.push_back(candidates(w));
  domain.count = p.taps();
  IndexMap map;
  map.extents = image;
  map.extents.insert(map.extents.end(), domain.extents.begin(), domain.extents.end());
  map.results.push_back(IndexExpr::dim(0));
  IndexExpr k(0);
  for (size_t i = 0; i < axes; ++i)
    k = k * p.axes[i].size + read_window(map, p.axes[i], static_cast<int>(i) + 1, rank + static_cast<int>(i));
  map.results.push_back(IndexExpr::dim(rank - 1));
  domain.k = k;
  domain.maps.assign(static_cast<size_t>(operands), map);
  return domain;
}

namespace {

struct PoolCase {
  Dims image, window, strides, pads, dilations = Dims(window.size(), 1);
};

Attrs attributes(const PoolCase& c) {
  Attrs attrs = {{"window", c.window}, {"strides", c.strides}, {"pads", c.pads}};
  const bool dilated = std::any_of(c.dilations.begin(), c.dilations.end(), [](int64_t d) { return d != 1; });
  if (dilated) attrs["dilations"] = c.dilations;
  return attrs;
}

const std::vector<PoolCase>& pool_cases(size_t axes) {
  static const std::vector<PoolCase> images = {
      {{2, 6, 6, 3}, {2, 2}, {2, 2}, {0, 0, 0, 0}},        {{1, 7, 5, 4}, {3, 3}, {2, 2}, {1, 1, 1, 1}},
      {{2, 5, 7, 1}, {3, 2}, {1, 1}, {0, 1, 2, 0}},        {{1, 1, 9, 5}, {1, 3}, {1, 3}, {0, 0, 0, 0}},
      {{3, 8, 8, 2}, {2, 2}, {3, 3}, {0, 0, 0, 0}},        {{1, 4, 4, 17}, {4, 4}, {4, 4}, {0, 0, 0, 0}},
      {{2, 7, 6, 3}, {3, 3}, {1, 2}, {2, 0, 1, 2}},        {{2, 7, 9, 3}, {3, 2}, {1, 1}, {0, 0, 0, 0}, {2, 3}},
      {{1, 8, 7, 2}, {2, 3}, {2, 3}, {1, 2, 0, 1}, {3, 2}}};
  static const std::vector<PoolCase> volumes = {{{2, 4, 4, 2, 3}, {2, 2, 2}, {2, 2, 2}, {0, 0, 0, 0, 0, 0}},
                                                {{1, 5, 3, 4, 2}, {3, 3, 3}, {2, 2, 2}, {1, 1, 1, 1, 1, 1}},
                                                {{2, 3, 5, 4, 1}, {2, 3, 2}, {1, 1, 1}, {1, 0, 1, 0, 2, 0}},
                                                {{1, 1, 7, 1, 5}, {1, 3, 1}, {1, 3, 1}, {0, 0, 0, 0, 0, 0}},
                                                {{1, 5, 5, 5, 2}, {2, 2, 2}, {3, 3, 3}, {0, 0, 0, 0, 0, 0}},
                                                {{1, 2, 2, 2, 17}, {2, 2, 2}, {2, 2, 2}, {0, 0, 0, 0, 0, 0}},
                                                {{1, 4, 5, 5, 2}, {3, 1, 3}, {1, 1, 2}, {2, 0, 0, 1, 0, 2}},
                                                {{1, 5, 4, 7, 2}, {2, 2, 3}, {1, 1, 1}, {0, 0, 0, 0, 0, 0}, {3, 2, 2}},
                                                {{1, 6, 4, 5, 3}, {2, 2, 3}, {2, 1, 3}, {1, 1, 2, 0, 0, 1}, {3, 2, 2}}};
  return axes == 2 ? images : volumes;
}

}  // namespace

std::vector<Sample> pool_samples(size_t axes) {
  std::vector<Sample> samples;
  for (const PoolCase& c : pool_cases(axes)) samples.push_back({.shapes = {c.image}, .attrs = attributes(c)});
  return samples;
}

std::vector<Sample> pool_gradient_samples(size_t axes, int operands) {
  std::vector<Sample> samples;
  for (const PoolCase& c : pool_cases(axes)) {
    Dims result = c.image;
    for (size_t i = 0; i < axes; ++i) {
      const int64_t reach = (c.window[i] - 1) * c.dilations[i] + 1;
      result[i + 1] = (c.image[i + 1] + c.pads[i] + c.pads[i + axes] - reach) / c.strides[i] + 1;
    }
    Sample sample;
    sample.attrs = with_shape(attributes(c), "input", c.image);
    sample.shapes.assign(static_cast<size_t>(operands), result);
    sample.below = product(c.window);
    samples.push_back(std::move(sample));
  }
  return samples;
}

}  // namespace heddle::ir
