// var and std: how far elements are from their mean, in two passes. The mean of the squares less the square of the mean
// would lose the variance of what is far from 0.
#include <fmt/format.h>

#include "frontend/layers/reduction_parts.h"
#include "frontend/vector_norm.h"

namespace heddle::frontend {
namespace {

using ir::Dims;
using ir::ValueId;

int64_t count_along(const Dims& dims, const Dims& axes) {
  int64_t count = 1;
  for (const int64_t axis : axes) count *= dims[static_cast<size_t>(axis)];
  return count;
}

ValueId reduced(LayerContext& c, const std::string& op, ValueId v, const Dims& axes, const std::string& what) {
  return axes.empty() ? v : c.emit(op, {v}, {{"axes", axes}}, what);
}

// As torch.var and torch.std: over the number of elements less `correction`.
ir::Values build(LayerContext& c, bool root) {
  c.require_floating(0);
  const Dims axes = read_axes(c), dims = c.dims(c.in[0]);
  const double correction = c.settings.real("correction");
  const int64_t count = count_along(dims, axes);
  if (!(static_cast<double>(count) > correction))
    c.fail_setting("correction",
                   fmt::format("{} element{} of {} with 'correction' {}: nothing is left to divide by", count,
                               count == 1 ? "" : "s", c.shape_text(dims), correction),
                   "\"correction\": 0 divides by the number of elements");
  Dims others;
  for (int64_t d = 0, next = 0; d < std::ssize(dims); ++d) {
    const bool is_reduced = next < std::ssize(axes) && axes[static_cast<size_t>(next)] == d;
    if (is_reduced)
      ++next;
    else
      others.push_back(d);
  }
  const ValueId mean = reduced(c, "reduce_mean", c.in[0], axes, "mean");
  const ValueId spread =
      axes.empty() ? mean : c.emit("broadcast", {mean}, {{"shape", dims}, {"dims", others}}, "spread_mean");
  const ValueId squares = c.emit("square", {c.emit("sub", {c.in[0], spread}, {}, "deviation")}, {}, "squares");
  const ValueId sum = reduced(c, "reduce_sum", squares, axes, "sum");
  const ValueId divisor = c.constant(static_cast<double>(count) - correction, c.type(sum));
  ValueId result = c.emit("div", {sum, divisor}, {}, "variance");
  if (root) result = root_or_zero(c.b, c.path, result);
  return {kept_where_asked(c, result, axes)};
}

LayerDef deviation(const std::string& name, const std::string& doc, bool root) {
  LayerDef def{.name = name, .doc = doc, .settings = reduction_settings(), .build = [root](LayerContext& c) {
                 return build(c, root);
               }};
  def.settings.push_back({.name = "correction",
                          .type = KeyType::real,
                          .doc = "what the number of elements is less by in the divisor: 0 divides by the number",
                          .fallback = 1.0,
                          .range = ir::kNotNegative});
  return def;
}

const RegisterLayer var(deviation("var", "variance over axes: the mean square of what is off the mean", false));
const RegisterLayer std_(deviation("std", "standard deviation over axes: the root of var", true));

}  // namespace
}  // namespace heddle::frontend
