// Layers over windows along every axis, and over a part whose place is computed.
#include <fmt/format.h>

#include "frontend/layers/index_parts.h"

namespace heddle::frontend {
namespace {

using ir::Dims;

// A list per axis; `each` entries for every one.
Dims read_list(LayerContext& c, const std::string& name, size_t rank, size_t each, int64_t low) {
  Dims list = c.settings.integers(name);
  // A number alone holds for all axes. No window is meant so: it would go over the rows of the batch.
  if (name != "window" && c.settings.json(name)->kind != Json::Kind::list) list.assign(rank * each, list[0]);
  if (list.size() != rank * each)
    c.fail_setting(name,
                   fmt::format("'{}' has {} entries, the input {} takes {}", name, list.size(),
                               c.shape_text(c.dims(c.in[0])), rank * each),
                   each == 1 ? "one for each axis, the batch's first" : "before each axis, then behind each axis");
  for (const int64_t value : list)
    if (value < low || value > INT32_MAX)
      c.fail_setting(name, fmt::format("'{}' holds {}, expected {} or more", name, value, low));
  return list;
}

ir::Attrs read_windows(LayerContext& c) {
  const size_t rank = c.dims(c.in[0]).size();
  if (c.type(c.in[0]).dtype == ir::DType::boolean) c.fail("bool has no sums and no order", "cast it to i32");
  ir::Attrs attrs = {{"window", read_list(c, "window", rank, 1, 1)}};
  if (c.settings.json("strides") != nullptr) attrs["strides"] = read_list(c, "strides", rank, 1, 1);
  if (c.settings.json("pads") != nullptr) attrs["pads"] = read_list(c, "pads", rank, 2, 0);
  if (c.settings.json("dilations") != nullptr) attrs["dilations"] = read_list(c, "dilations", rank, 1, 1);
  return attrs;
}

// What the windows make of the first input; the geometry's own rule speaks, at the window.
ir::Type require_windows(LayerContext& c, const std::string& op, const ir::Attrs& attrs) {
  const ir::OpDef& def = ir::op_def(op);
  try {
    return def.infer({&def, attrs, {c.type(c.in[0])}, {}}).front();
  } catch (const ir::InferError& error) {
    c.fail_setting("window", error.what());
  }
}

ir::Values build_windows(LayerContext& c, const std::string& op) {
  const ir::Attrs attrs = read_windows(c);
  require_windows(c, op, attrs);
  return {c.emit(op, c.in, attrs)};
}

std::vector<Key> window_settings() {
  return {{.name = "window",
           .type = KeyType::integer,
           .count = Count::several,
           .doc = "elements along each axis, the batch's first",
           .required = true},
          {.name = "strides",
           .type = KeyType::integer,
           .count = Count::several,
           .doc = "steps along each axis, or along all of them: 1"},
          {.name = "pads",
           .type = KeyType::integer,
           .count = Count::several,
           .doc = "before each axis, then behind each axis, or everywhere: 0"},
          {.name = "dilations",
           .type = KeyType::integer,
           .count = Count::several,
           .doc = "distance of a window's elements along each axis, or along all of them: 1"}};
}

LayerDef windowed(const std::string& name, const std::string& what) {
  return {.name = name,
          .doc = what + " of each window, which lies along all axes; padding does not count",
          .settings = window_settings(),
          .build = [name](LayerContext& c) { return build_windows(c, name); }};
}

const RegisterLayer window_sum(windowed("window_sum", "the sum"));
const RegisterLayer window_prod(windowed("window_prod", "the product"));
const RegisterLayer window_max(windowed("window_max", "the largest element"));
const RegisterLayer window_min(windowed("window_min", "the smallest element"));

ir::Values build_select_and_scatter(LayerContext& c) {
  ir::Attrs attrs = read_windows(c);
  const ir::Type wanted = require_windows(c, "window_max", attrs), &source = c.type(c.in[1]);
  if (source != wanted)
    c.fail(fmt::format("expected a source {}{}, an element for each window, found {}{}", ir::to_string(wanted.dtype),
                       c.shape_text(wanted.dims), ir::to_string(source.dtype), c.shape_text(source.dims)),
           {}, 1);
  attrs["select"] = c.settings.text("select");
  return {c.emit("select_and_scatter", c.in, std::move(attrs))};
}

std::vector<Key> scatter_settings() {
  std::vector<Key> settings = window_settings();
  settings.push_back({.name = "select",
                      .type = KeyType::text,
                      .doc = "max or min",
                      .fallback = std::string("max"),
                      .words = {"max", "min"}});
  return settings;
}

const RegisterLayer select_and_scatter({.name = "select_and_scatter",
                                        .doc = "zeros of x's shape, where each window adds its element of the source "
                                               "to the place of its largest element of x",
                                        .inputs = {"x", "source"},
                                        .settings = scatter_settings(),
                                        .build = build_select_and_scatter});

// --- dynamic_slice, dynamic_update_slice ---

void require_starts(LayerContext& c, size_t input) {
  require_indices(c, input);
  const Dims &x = c.dims(c.in[0]), &starts = c.dims(c.in[input]);
  if (x.empty()) c.fail("the input is a scalar", "there is no part of it to name");
  if (starts != Dims{std::ssize(x)})
    c.fail(fmt::format("starts are {}, the input {} takes [{}]", c.shape_text(starts), c.shape_text(x), x.size()),
           "a start for each axis, the batch's first: {\"op\": \"constant\"}, or reshape what is computed", input);
}

ir::Values build_dynamic_slice(LayerContext& c) {
  require_starts(c, 1);
  const Dims& x = c.dims(c.in[0]);
  const Dims sizes = read_list(c, "sizes", x.size(), 1, 1);
  for (size_t d = 0; d < x.size(); ++d)
    if (sizes[d] > x[d])
      c.fail_setting("sizes",
                     fmt::format("size {} of axis {} is more than the input {} has", sizes[d], d, c.shape_text(x)));
  return {c.emit("dynamic_slice", c.in, {{"sizes", sizes}})};
}

ir::Values build_dynamic_update_slice(LayerContext& c) {
  require_starts(c, 2);
  const ir::Type &x = c.type(c.in[0]), &update = c.type(c.in[1]);
  bool fits = update.dtype == x.dtype && update.rank() == x.rank();
  for (size_t d = 0; fits && d < x.dims.size(); ++d) fits = update.dims[d] <= x.dims[d];
  if (!fits)
    c.fail(fmt::format("the update {}{} is no part of {}{}", ir::to_string(update.dtype), c.shape_text(update.dims),
                       ir::to_string(x.dtype), c.shape_text(x.dims)),
           "it has the input's type and axes, and along none of them more elements", 1);
  return {c.emit("dynamic_update_slice", c.in)};
}

const RegisterLayer dynamic_slice(
    {.name = "dynamic_slice",
     .doc = "the part of x that begins at starts, a number for each axis; it is moved to where all of it is inside",
     .inputs = {"x", "starts"},
     .settings = {{.name = "sizes",
                   .type = KeyType::integer,
                   .count = Count::several,
                   .doc = "of the part, along each axis, the batch's first",
                   .required = true}},
     .build = build_dynamic_slice});
const RegisterLayer dynamic_update_slice(
    {.name = "dynamic_update_slice",
     .doc = "x with the update in the place of the part that begins at starts, moved to where all of it is inside",
     .inputs = {"x", "update", "starts"},
     .build = build_dynamic_update_slice});

}  // namespace
}  // namespace heddle::frontend
