// Reductions, and operators with two forms: max reduces a single input, and compares two inputs element by element.
#include <fmt/format.h>

#include "frontend/layers/reduction_parts.h"
#include "frontend/primitive_layer.h"

namespace heddle::frontend {
namespace {

using ir::Dims;

ir::Values build_reduction(LayerContext& c, std::string_view op) {
  const Dims axes = read_axes(c);
  const ir::ValueId reduced = axes.empty() ? c.in[0] : c.emit(op, {c.in[0]}, {{"axes", axes}});
  return {kept_where_asked(c, reduced, axes)};
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

const std::vector<Key> kAxis = {
    {.name = "axis", .doc = "counted from the end where negative", .fallback = int64_t{-1}}};

LayerDef reduction(const std::string& name, const std::string& op, const std::string& doc) {
  return {.name = name, .doc = doc, .settings = reduction_settings(), .build = [op](LayerContext& c) {
            return build_reduction(c, op);
          }};
}
LayerDef extreme(const std::string& name, const std::string& doc) {
  return {.name = name,
          .doc = doc,
          .variadic = true,
          .literals = true,
          .settings = reduction_settings(),
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
