// multi_margin, by torch.nn.MultiMarginLoss (Crammer and Singer 2001).
#include "frontend/training/measure_parts.h"

namespace heddle::frontend {
namespace {

using ir::Dims;
using ir::ValueId;

// max(0, margin - x[label] + x[i])^p of each class but the label.
ValueId excess_of_others(MeasureContext& c, ValueId logits, ValueId hits) {
  const Dims dims = c.b.type(logits).dims;
  const ValueId zero = like(c, 0, logits);
  const ValueId own = sum_of(c, c.emit("select", {hits, logits, zero}, {}, "picked"), last_axis(dims), "label_logit");
  const ValueId spread =
      c.emit("broadcast", {own}, {{"shape", dims}, {"dims", leading_axes(dims)}}, "spread_label_logit");
  const ValueId above = c.emit("sub", {logits, spread}, {}, "above");
  const ValueId missing = c.emit("add", {above, like(c, c.settings.real("margin"), above)}, {}, "missing");
  ValueId excess = c.emit("relu", {missing}, {}, "excess");
  if (c.settings.integer("p") == 2) excess = c.emit("square", {excess}, {}, "excess_squared");
  return c.emit("select", {hits, zero, excess}, {}, "excess_of_others");
}

// PyTorch's class weights are factors alone: the mean is over rows, not over their weights.
ValueId class_factor(MeasureContext& c, ValueId hits) {
  const ValueId weights = spread_class_numbers(c, "class_weights");
  c.b.prefix = c.name + ".class_weights";
  const ValueId wide = c.b.cast(weights, ir::DType::f32);
  const ValueId picked = c.emit("select", {hits, wide, like(c, 0, wide)}, {}, "picked_weight");
  return sum_of(c, picked, last_axis(c.b.type(wide).dims), "label_weight");
}

ValueId mean(MeasureContext& c) {
  check_classes(c);
  check_class_weights(c);
  c.b.prefix = c.name + ".logits";
  const ValueId logits = c.b.cast(c.in[0], ir::DType::f32), hits = label_hits(c);
  const Dims dims = c.b.type(logits).dims;
  const ValueId sum = sum_of(c, excess_of_others(c, logits, hits), last_axis(dims), "excess_sum");
  ValueId row = c.emit("mul", {sum, like(c, 1 / static_cast<double>(dims.back()), sum)}, {}, "row");
  if (has_class_weights(c)) row = c.emit("mul", {row, class_factor(c, hits)}, {}, "weighed_row");
  const ValueId weights = weights_of_valid(c);
  row = c.emit("mul", {row, weights}, {}, "counted_row");
  const ValueId total = sum_of(c, infinite_where_unknown(c, row, hits), {}, "row_sum");
  return ratio(c, total, sum_of(c, weights, {}, "row_weights"));
}

const RegisterLoss multi_margin(
    {.name = "multi_margin",
     .doc = "mean over rows of the sum of max(0, margin - x[label] + x[i])^p over the other classes i, over the number "
            "of classes",
     .inputs = class_inputs(),
     .settings = {ignore_setting(),
                  class_weights_setting(),
                  {.name = "margin",
                   .type = KeyType::real,
                   .doc = "by how much the label's logit is to be larger",
                   .fallback = 1.0,
                   .range = ir::as_f32({})},
                  {.name = "p", .doc = "the power, 1 or 2", .fallback = int64_t{1}, .range = ir::between(1, 2)}},
     .classes = true,
     .mean = mean,
     .count = [](MeasureContext& c) { return sum_of(c, weights_of_valid(c), {}, "row_weights"); }});

}  // namespace
}  // namespace heddle::frontend
