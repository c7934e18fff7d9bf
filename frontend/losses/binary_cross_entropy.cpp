// binary_cross_entropy, by torch.nn.BCEWithLogitsLoss.
#include "frontend/measure_parts.h"

namespace heddle::frontend {
namespace {

using ir::ValueId;

// target pos_weight softplus(-x) + (1 - target) softplus(x): no difference of large numbers, no logarithm of 0.
ValueId mean(MeasureContext& c) {
  const ValueId target = check_targets(c), x = c.in[0];
  const double weight = c.settings.positive_real("pos_weight");
  c.b.prefix = c.name + ".constant";
  const ValueId missed = c.emit("softplus", {c.emit("neg", {x}, {}, "negative")}, {}, "missed");
  ValueId positive = c.emit("mul", {target, missed}, {}, "positive");
  if (weight != 1) positive = c.emit("mul", {positive, c.b.like(weight, positive)}, {}, "positive_weighted");
  const ValueId rest = c.emit("sub", {c.b.like(1, target), target}, {}, "rest");
  const ValueId negative = c.emit("mul", {rest, c.emit("softplus", {x}, {}, "false_alarm")}, {}, "negative_part");
  return mean_of_elements(c, c.emit("add", {positive, negative}, {}, "values"));
}

const RegisterLoss binary_cross_entropy(
    {.name = "binary_cross_entropy",
     .doc =
         "mean of -t log sigmoid(x) - (1 - t) log sigmoid(-x), without overflow; pos_weight is what targets of 1 weigh",
     .inputs = {"logits", "target"},
     .settings = {{.name = "pos_weight",
                   .type = SettingType::real,
                   .doc = "what targets of 1 weigh against those of 0",
                   .fallback = 1.0}},
     .mean = mean,
     .count = count_of_elements});

}  // namespace
}  // namespace heddle::frontend
