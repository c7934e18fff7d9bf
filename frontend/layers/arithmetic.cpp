// Reductions, and the operators that are both: max of one input reduces it, of two compares them.
#include <fmt/format.h>

#include <algorithm>

#include "frontend/layer_context.h"
#include "frontend/primitive_layer.h"

namespace heddle::frontend {
namespace {

using ir::Dims;

// Axes that a reduction removes; absent: all.
Dims read_axes(LayerContext& c) {
  Dims axes = c.settings.json("axis") == nullptr ? Dims{} : c.settings.integers("axis");
  const int64_t rank = c.type(c.in[0]).rank();
  for (int64_t& axis : axes) {
    if (axis < -rank || axis >= rank) {
      c.fail_setting("axis", fmt::format("axis {} is outside the input {}", axis, c.shape_text(c.dims(c.in[0]))));
    }
    axis = axis < 0 ? axis + rank : axis;
  }
  std::sort(axes.begin(), axes.end());
  if (std::adjacent_find(axes.begin(), axes.end()) != axes.end()) c.fail_setting("axis", "an axis is named twice");
  if (axes.empty()) {
    for (int64_t d = 0; d < rank; ++d) axes.push_back(d);
  }
  return axes;
}

ir::Values build_reduction(LayerContext& c, std::string_view op) {
  const Dims axes = read_axes(c);
  Dims kept = c.dims(c.in[0]);
  for (const int64_t axis : axes) kept[static_cast<size_t>(axis)] = 1;
  const ir::ValueId reduced = axes.empty() ? c.in[0] : c.emit(op, {c.in[0]}, {{"axes", axes}});
  return {c.settings.flag("keepdims") ? c.reshape(reduced, kept) : reduced};
}

// max and min of one input reduce it; of several they compare element by element.
ir::Values build_extreme(LayerContext& c, std::string_view elementwise, std::string_view reduction) {
  if (c.in.size() == 1 && c.in[0].valid()) return build_reduction(c, reduction);
  for (const char* setting : {"axis", "keepdims"})
    if (c.settings.json(setting) != nullptr)
      c.fail_setting(setting, fmt::format("'{}' is for one input; several are compared element by element", setting));
  const ir::Values in = broadcast_inputs(c);
  ir::ValueId result = in[0];
  for (size_t i = 1; i < in.size(); ++i) result = c.emit(elementwise, {result, in[i]});
  return {result};
}

ir::Values build_arg(LayerContext& c, std::string_view op) {
  c.read_axis();
  return {c.emit(op, {c.in[0]}, {{"axis", c.settings.integer("axis")}})};
}

const std::vector<Key> kReduction = {
    {.name = "axis", .type = KeyType::integer, .count = Count::several, .doc = "one axis or several: all"},
    {.name = "keepdims", .type = KeyType::flag, .doc = "keep them as size 1", .fallback = false}};
const std::vector<Key> kAxis = {
    {.name = "axis", .doc = "counted from the end where negative", .fallback = int64_t{-1}}};

LayerDef reduction(const std::string& name, const std::string& op, const std::string& doc) {
  return {.name = name, .doc = doc, .settings = kReduction, .build = [op](LayerContext& c) {
            return build_reduction(c, op);
          }};
}
LayerDef extreme(const std::string& name, const std::string& doc) {
  return {.name = name,
          .doc = doc,
          .variadic = true,
          .literals = true,
          .settings = kReduction,
          .build = [name](LayerContext& c) { return build_extreme(c, name, "reduce_" + name); }};
}
LayerDef arg(const std::string& name, const std::string& doc) {
  return {.name = name, .doc = doc, .settings = kAxis, .build = [name](LayerContext& c) { return build_arg(c, name); }};
}

const RegisterLayer sum(reduction("sum", "reduce_sum", "sum over axes"));
const RegisterLayer mean(reduction("mean", "reduce_mean", "mean over axes"));
const RegisterLayer prod(reduction("prod", "reduce_prod", "product over axes"));
const RegisterLayer logsumexp(reduction("logsumexp", "reduce_logsumexp", "log of the sum of exp(x) over axes"));
const RegisterLayer max(extreme("max", "largest element over axes; of several inputs the larger element"));
const RegisterLayer min(extreme("min", "smallest element over axes; of several inputs the smaller element"));
const RegisterLayer argmax(arg("argmax", "index of the largest element, the first of equals, as i32"));
const RegisterLayer argmin(arg("argmin", "index of the smallest element, the first of equals, as i32"));

}  // namespace

}  // namespace heddle::frontend
