// Layers that move elements without changing them.
#include <fmt/format.h>

#include <algorithm>

#include "frontend/layer_context.h"
#include "frontend/limits.h"

namespace heddle::frontend {
namespace {

using ir::Dims;

ir::Values build_flatten(LayerContext& c) {
  c.require_rank(0, 1, static_cast<int64_t>(kMaxRank), "an input with a batch axis");
  const Dims& dims = c.dims(c.in[0]);
  return {c.reshape(c.in[0], {dims[0], ir::product(dims) / dims[0]})};
}

// One -1 stands for what is left.
Dims infer_shape(LayerContext& c, Dims shape, int64_t elements) {
  int64_t known = 1;
  const auto open = std::count(shape.begin(), shape.end(), -1);
  for (const int64_t size : shape) {
    if (size < 1 && size != -1) c.fail_setting("shape", fmt::format("{} is not a size", size));
    if (size != -1 && (__builtin_mul_overflow(known, size, &known) || known > kMaxElements)) {
      c.fail_setting("shape", fmt::format("{} has more than {} elements", ir::to_string(shape), kMaxElements));
    }
  }
  if (open > 1) c.fail_setting("shape", "only one size can be -1");
  if (open == 1 && elements % known == 0) *std::find(shape.begin(), shape.end(), -1) = elements / known;
  return shape;
}

ir::Values build_reshape(LayerContext& c) {
  const Dims& from = c.dims(c.in[0]);
  const Dims given = c.settings.integers("shape");
  if (given.size() > kMaxRank) c.fail_setting("shape", fmt::format("more than {} dimensions", kMaxRank));
  const Dims shape = infer_shape(c, given, ir::product(from));
  if (std::count(shape.begin(), shape.end(), -1) != 0 || ir::product(shape) != ir::product(from)) {
    c.fail_setting("shape", fmt::format("{} with {} elements cannot take the shape {}", c.shape_text(from),
                                        ir::product(from), c.shape_text(given)));
  }
  return {c.reshape(c.in[0], shape)};
}

ir::Values build_broadcast_to(LayerContext& c) {
  const Dims& from = c.dims(c.in[0]);
  Dims shape = c.settings.integers("shape");
  if (shape.size() > kMaxRank) c.fail_setting("shape", fmt::format("more than {} dimensions", kMaxRank));
  bool fits = shape.size() >= from.size();
  const size_t added = fits ? shape.size() - from.size() : 0;
  for (size_t d = 0; fits && d < shape.size(); ++d) {
    const int64_t size = d < added ? 1 : from[d - added];
    if (shape[d] == -1 && d >= added) shape[d] = size;
    fits = shape[d] >= 1 && (size == 1 || size == shape[d]);
  }
  if (!fits)
    c.fail_setting("shape", fmt::format("{} does not stretch to {}", c.shape_text(from), c.shape_text(shape)),
                   "axes of 1 are stretched, new axes come first, and -1 keeps an axis");
  infer_shape(c, shape, 1);
  return {c.broadcast(c.in[0], shape)};
}

ir::Values build_transpose(LayerContext& c) {
  const Dims perm = c.settings.integers("perm");
  Dims sorted = perm;
  std::sort(sorted.begin(), sorted.end());
  const auto rank = static_cast<size_t>(c.type(c.in[0]).rank());
  bool complete = sorted.size() == rank;
  for (size_t i = 0; complete && i < rank; ++i) complete = sorted[i] == static_cast<int64_t>(i);
  if (!complete) {
    c.fail_setting("perm", fmt::format("{} is not an order of the axes of {}", ir::to_string(perm),
                                       c.shape_text(c.dims(c.in[0]))));
  }
  return {c.emit("transpose", {c.in[0]}, {{"perm", perm}})};
}

ir::Values build_concat(LayerContext& c) {
  if (c.in.size() > kMaxJoined)
    c.fail(fmt::format("{} inputs, at most {} are joined at once", c.in.size(), kMaxJoined));
  const int64_t axis = c.read_axis();
  const ir::Type& first = c.type(c.in[0]);
  for (size_t i = 1; i < c.in.size(); ++i) {
    const ir::Type& other = c.type(c.in[i]);
    bool fits = other.dtype == first.dtype && other.rank() == first.rank();
    for (int64_t d = 0; fits && d < first.rank(); ++d) {
      const auto k = static_cast<size_t>(d);
      fits = d == axis || other.dims[k] == first.dims[k];
    }
    if (!fits) {
      c.fail(fmt::format("inputs differ beside axis {}: {}{} vs {}{}", axis, ir::to_string(first.dtype),
                         c.shape_text(first.dims), ir::to_string(other.dtype), c.shape_text(other.dims)),
             {}, i);
    }
  }
  return {c.emit("concat", c.in, {{"axis", axis}})};
}

ir::Values build_slice(LayerContext& c) {
  const int64_t axis = c.read_axis();
  const int64_t size = c.dims(c.in[0])[static_cast<size_t>(axis)];
  // As in Python: from the end where negative, and what lies outside means the nearest end.
  const auto from_end = [&](int64_t at) { return std::clamp<int64_t>(at < 0 ? at + size : at, 0, size); };
  const int64_t start = from_end(c.settings.integer("start"));
  const int64_t stop = c.settings.has("stop") ? from_end(c.settings.integer("stop")) : size;
  const int64_t step = c.settings.integer("step");
  if (start >= stop) {
    c.fail_setting(
        c.settings.json("stop") != nullptr ? "stop" : "start",
        fmt::format("positions {} to {} of axis {} with {} elements: nothing is left", start, stop, axis, size));
  }
  return {c.slice(c.in[0], axis, start, stop, {}, step)};
}

constexpr int64_t kMostParts = 1024;

// Those that `parts` asks for, whether or not they fit.
std::optional<size_t> count_parts(const std::vector<Json>& settings) {
  const auto parts = std::ranges::find(settings, "parts", &Json::key);
  if (parts == settings.end()) return std::nullopt;
  if (parts->kind == Json::Kind::list) return parts->items.size();
  const bool known = parts->kind == Json::Kind::integer && parts->integer > 0 && parts->integer <= kMostParts;
  return known ? std::optional(static_cast<size_t>(parts->integer)) : std::nullopt;
}

Dims read_parts(LayerContext& c, int64_t size) {
  const Json* given = c.settings.json("parts");
  if (given->kind == Json::Kind::list) return c.settings.integers("parts");
  const int64_t parts = c.settings.integer("parts");
  if (size % parts != 0)
    c.fail_setting("parts", fmt::format("{} elements do not split into {} equal parts", size, parts));
  if (parts > kMostParts) c.fail_setting("parts", fmt::format("more than {} parts", kMostParts));
  return Dims(static_cast<size_t>(parts), size / parts);
}

ir::Values build_split(LayerContext& c) {
  const int64_t axis = c.read_axis();
  const int64_t size = c.dims(c.in[0])[static_cast<size_t>(axis)];
  ir::Values results;
  int64_t at = 0;
  for (const int64_t part : read_parts(c, size)) {
    if (part < 1 || part > size - at) c.fail_setting("parts", fmt::format("the parts do not fit in {} elements", size));
    results.push_back(c.slice(c.in[0], axis, at, at + part, fmt::format("part{}", results.size())));
    at += part;
  }
  if (at != size) c.fail_setting("parts", fmt::format("the parts sum to {}, axis {} has {} elements", at, axis, size));
  return results;
}

const Key kAxis = {.name = "axis", .doc = "counted from the end where negative", .fallback = int64_t{-1}};

const RegisterLayer flatten({.name = "flatten", .doc = "all axes but the first become one", .build = build_flatten});
const RegisterLayer reshape({.name = "reshape",
                             .doc = "the same elements in another shape",
                             .settings = {{.name = "shape",
                                           .type = KeyType::integer,
                                           .count = Count::several,
                                           .doc = "sizes; one may be -1",
                                           .required = true}},
                             .build = build_reshape});
const RegisterLayer broadcast_to({.name = "broadcast_to",
                                  .doc = "axes of size 1 repeated to the shape's size; new axes come first",
                                  .settings = {{.name = "shape",
                                                .type = KeyType::integer,
                                                .count = Count::several,
                                                .doc = "sizes; -1 keeps an axis",
                                                .required = true}},
                                  .build = build_broadcast_to});
const RegisterLayer transpose({.name = "transpose",
                               .doc = "axes in another order",
                               .settings = {{.name = "perm",
                                             .type = KeyType::integer,
                                             .count = Count::several,
                                             .doc = "axis i of the result is axis perm[i]",
                                             .required = true}},
                               .build = build_transpose});
const RegisterLayer concat({.name = "concat",
                            .doc = "inputs end to end along an axis",
                            .variadic = true,
                            .settings = {kAxis},
                            .build = build_concat});
const RegisterLayer slice(
    {.name = "slice",
     .doc = "a range of one axis",
     .settings = {kAxis,
                  {.name = "start", .doc = "first element", .fallback = int64_t{0}},
                  {.name = "stop", .doc = "one past the last: the end"},
                  {.name = "step", .doc = "take every step-th", .fallback = int64_t{1}, .range = ir::at_least(1)}},
     .build = build_slice});
const RegisterLayer split({.name = "split",
                           .doc = "cuts along an axis; one result per part",
                           .settings = {{.name = "parts",
                                         .type = KeyType::integer,
                                         .count = Count::several,
                                         .doc = "how many equal parts, or their sizes",
                                         .required = true,
                                         .range = ir::at_least(1)},
                                        kAxis},
                           .results = count_parts,
                           .build = build_split});

}  // namespace
}  // namespace heddle::frontend
