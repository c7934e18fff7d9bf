// binary_cross_entropy, by torch.nn.BCEWithLogitsLoss.
#include <fmt/format.h>

#include "frontend/layer_context.h"
#include "frontend/training/measure_parts.h"

namespace heddle::frontend {
namespace {

using ir::ValueId;

// One number, or one for each class.
ValueId pos_weight_like(MeasureContext& c, ValueId v) {
  if (c.settings.json("pos_weight")->kind == Json::Kind::list) {
    check_class_numbers(c, "pos_weight");
    return spread_class_numbers(c, "pos_weight");
  }
  const double weight = c.settings.reals("pos_weight")[0];
  if (!(weight > 0 && fits(weight, ir::DType::f32)))
    c.settings.fail("pos_weight", fmt::format("'pos_weight' must be an f32 above 0, is {}", weight));
  return c.b.like(weight, v);
}

// target pos_weight softplus(-x) + (1 - target) softplus(x): no difference of large numbers, no logarithm of 0.
ValueId mean(MeasureContext& c) {
  const ValueId target = check_targets(c), x = c.in[0];
  c.b.prefix = c.name + ".constant";
  const ValueId missed = c.emit("softplus", {c.emit("neg", {x}, {}, "negative")}, {}, "missed");
  ValueId positive = c.emit("mul", {target, missed}, {}, "positive");
  if (c.settings.json("pos_weight") != nullptr)
    positive = c.emit("mul", {positive, pos_weight_like(c, positive)}, {}, "positive_weighted");
  c.b.prefix = c.name + ".constant";
  const ValueId rest = c.emit("sub", {c.b.like(1, target), target}, {}, "rest");
  const ValueId negative = c.emit("mul", {rest, c.emit("softplus", {x}, {}, "false_alarm")}, {}, "negative_part");
  return mean_of_elements(c, c.emit("add", {positive, negative}, {}, "values"));
}

const RegisterLoss binary_cross_entropy(
    {.name = "binary_cross_entropy",
     .doc = "mean of -t log sigmoid(x) - (1 - t) log sigmoid(-x), without overflow; pos_weight, one number or one for "
            "each "
            "class, is what targets of 1 weigh",
     .inputs = {"logits", "target"},
     .settings = {{.name = "pos_weight",
                   .type = KeyType::real,
                   .count = Count::several,
                   .doc = "what targets of 1 weigh against those of 0, one number or one for each class: 1"}},
     .mean = mean,
     .count = count_of_elements});

}  // namespace
}  // namespace heddle::frontend
