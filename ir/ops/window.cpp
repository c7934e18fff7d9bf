#include "ir/ops/window.h"

#include <fmt/format.h>

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

void require_image(const Type& type, const std::string& what) {
  if (type.rank() != 4) throw InferError(fmt::format("{} is {}, expected rank 4", what, to_string(type)));
}

namespace {

// How far a dilated window reaches, for messages.
std::string spans(const Window& w) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  if (w.dilation == 1) return "";
  if (w.size - 1 > (kMost - 1) / w.dilation) return fmt::format(" (with dilation {})", w.dilation);
  return fmt::format(" (spans {} with dilation {})", (w.size - 1) * w.dilation + 1, w.dilation);
}

Dims pooled(const Pool& p, const Dims& image) { return {image[0], p.height.output, p.width.output, image[3]}; }

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

std::vector<Key> pool_attributes() {
  return {{.name = "window",
           .type = KeyType::integer,
           .count = Count::several,
           .doc = "height and width",
           .required = true},
          {.name = "strides",
           .type = KeyType::integer,
           .count = Count::several,
           .doc = "steps down and right; none: the window",
           .fallback = Dims{}},
          {.name = "pads",
           .type = KeyType::integer,
           .count = Count::several,
           .doc = "top, left, bottom, right",
           .fallback = Dims{0, 0, 0, 0}},
          {.name = "dilations",
           .type = KeyType::integer,
           .count = Count::several,
           .doc = "distance of the window's elements",
           .fallback = Dims{1, 1}}};
}

std::vector<Key> pool_gradient_attributes() { return with_shape(pool_attributes(), "input", "shape of the image"); }

void check_reach(const Window& w, const Dims& pads, const Dims& window) {
  const int64_t most = std::max(w.low, w.high),
                passed = (most + w.dilation - 1) / w.dilation;  // elements in the padding
  if (passed >= w.size)
    throw InferError(fmt::format("pads {} reach over the window {}{}", to_string(pads), to_string(window), spans(w)));
  if (most > 0 && w.dilation > w.input)
    throw InferError(fmt::format("dilation {} steps over an image of {}, a window may lie in the padding alone",
                                 w.dilation, w.input));
}

Pool pool(const Signature& s, const Dims& image) {
  const Dims& window = checked_list(s, "window", 2, 1);
  const Dims& strides = s.integers("strides").empty() ? window : checked_list(s, "strides", 2, 1);
  const Dims& pads = checked_list(s, "pads", 4, 0);
  const Dims& dilations = checked_list(s, "dilations", 2, 1);
  const auto axis = [&](size_t i) {
    const Window w{.size = window[i],
                   .stride = strides[i],
                   .dilation = dilations[i],
                   .low = pads[i],
                   .high = pads[i + 2],
                   .input = image[i + 1]};
    check_reach(w, pads, window);
    return w;
  };
  return {placed(axis(0), "window", "height"), placed(axis(1), "window", "width")};
}

Dims pooled_operand(const Signature& s) {
  require_image(s.operands[0], "input");
  return pooled(pool(s, s.operands[0].dims), s.operands[0].dims);
}

Dims pool_gradient_image(const Signature& s) {
  const Dims& image = checked_list(s, "input", 4, 1);
  const Dims expected = pooled(pool(s, image), image);
  if (s.operands[0].dims != expected)
    throw InferError(
        fmt::format("dy is {}, pooling {} gives {}", to_string(s.operands[0]), to_string(image), to_string(expected)));
  return image;
}

ReductionDomain pool_domain(const Signature& s, int extra) {
  const Dims& image = s.operands[0].dims;
  const Pool p = pool(s, image);
  ReductionDomain domain;
  domain.extents = {p.height.size, p.width.size};
  const Dims result = pooled(p, image);
  IndexMap map;
  map.extents = {result[0], result[1], result[2], result[3], p.height.size, p.width.size};
  IndexMap same = map;
  for (int d = 0; d < 4; ++d) same.results.push_back(IndexExpr::dim(d));
  map.results.push_back(IndexExpr::dim(0));
  read_input(map, p.height, 1, 4);
  read_input(map, p.width, 2, 5);
  map.results.push_back(IndexExpr::dim(3));
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

ReductionDomain pool_gradient_domain(const Signature& s, int operands) {
  const Dims& image = s.integers("input");
  const Pool p = pool(s, image);
  ReductionDomain domain;
  domain.extents = {candidates(p.height), candidates(p.width)};
  domain.count = p.taps();
  IndexMap map;
  map.extents = {image[0], image[1], image[2], image[3], domain.extents[0], domain.extents[1]};
  map.results.push_back(IndexExpr::dim(0));
  const IndexExpr row = read_window(map, p.height, 1, 4);
  const IndexExpr column = read_window(map, p.width, 2, 5);
  map.results.push_back(IndexExpr::dim(3));
  domain.k = row * p.width.size + column;
  domain.maps.assign(static_cast<size_t>(operands), map);
  return domain;
}

namespace {

struct PoolCase {
  Dims image, window, strides, pads, dilations = {1, 1};
};

Attrs attributes(const PoolCase& c) {
  Attrs attrs = {{"window", c.window}, {"strides", c.strides}, {"pads", c.pads}};
  if (c.dilations != Dims{1, 1}) attrs["dilations"] = c.dilations;
  return attrs;
}

const std::vector<PoolCase>& pool_cases() {
  static const std::vector<PoolCase> cases = {
      {{2, 6, 6, 3}, {2, 2}, {2, 2}, {0, 0, 0, 0}},        {{1, 7, 5, 4}, {3, 3}, {2, 2}, {1, 1, 1, 1}},
      {{2, 5, 7, 1}, {3, 2}, {1, 1}, {0, 1, 2, 0}},        {{1, 1, 9, 5}, {1, 3}, {1, 3}, {0, 0, 0, 0}},
      {{3, 8, 8, 2}, {2, 2}, {3, 3}, {0, 0, 0, 0}},        {{1, 4, 4, 17}, {4, 4}, {4, 4}, {0, 0, 0, 0}},
      {{2, 7, 6, 3}, {3, 3}, {1, 2}, {2, 0, 1, 2}},        {{2, 7, 9, 3}, {3, 2}, {1, 1}, {0, 0, 0, 0}, {2, 3}},
      {{1, 8, 7, 2}, {2, 3}, {2, 3}, {1, 2, 0, 1}, {3, 2}}};
  return cases;
}

}  // namespace

std::vector<Sample> pool_samples() {
  std::vector<Sample> samples;
  for (const PoolCase& c : pool_cases()) samples.push_back({.shapes = {c.image}, .attrs = attributes(c)});
  return samples;
}

std::vector<Sample> pool_gradient_samples(int operands) {
  std::vector<Sample> samples;
  for (const PoolCase& c : pool_cases()) {
    const auto out = [&](size_t i) {
      const int64_t reach = (c.window[i] - 1) * c.dilations[i] + 1;
      return (c.image[i + 1] + c.pads[i] + c.pads[i + 2] - reach) / c.strides[i] + 1;
    };
    Sample sample;
    sample.attrs = with_shape(attributes(c), "input", c.image);
    sample.shapes.assign(static_cast<size_t>(operands), {c.image[0], out(0), out(1), c.image[3]});
    sample.below = c.window[0] * c.window[1];
    samples.push_back(std::move(sample));
  }
  return samples;
}

}  // namespace heddle::ir
