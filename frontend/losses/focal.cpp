// focal, by torchvision.ops.sigmoid_focal_loss (Lin et al. 2017, arXiv 1708.02002, equation 5).
#include "frontend/training/measure_parts.h"

namespace heddle::frontend {
namespace {

using ir::ValueId;

// a^gamma of a share a, whose gradient is 0 where a is 0: there the cross-entropy is 0, too.
ValueId modulated(MeasureContext& c, ValueId missed) {
  const ValueId zero = like(c, 0, missed), nothing = c.emit("eq", {missed, zero}, {}, "nothing_missed");
  const ValueId safe = c.emit("select", {nothing, like(c, 1, missed), missed}, {}, "safe_missed");
  const ValueId power = c.emit("pow", {safe, like(c, c.settings.real("gamma"), missed)}, {}, "power");
  return c.emit("select", {nothing, zero, power}, {}, "modulation");
}

// alpha t + (1 - alpha) (1 - t)
ValueId balanced(MeasureContext& c, ValueId target, ValueId rest, double alpha) {
  const ValueId positive = c.emit("mul", {target, like(c, alpha, target)}, {}, "positive_weight");
  const ValueId negative = c.emit("mul", {rest, like(c, 1 - alpha, rest)}, {}, "negative_weight");
  return c.emit("add", {positive, negative}, {}, "balance");
}

// With p = sigmoid(x): cross-entropy (p (1 - t) + (1 - p) t)^gamma. 1 - p is sigmoid(-x), not a difference, and neither
// factor overflows.
ValueId mean(MeasureContext& c) {
  const ValueId target = check_targets(c), x = c.in[0], against = c.emit("neg", {x}, {}, "against");
  const ValueId rest = c.emit("sub", {like(c, 1, target), target}, {}, "rest");
  const auto mixed = [&](const char* op, const std::string& what) {
    const ValueId positive = c.emit("mul", {target, c.emit(op, {against}, {}, what + "_of_1")}, {}, what + "_positive");
    const ValueId negative = c.emit("mul", {rest, c.emit(op, {x}, {}, what + "_of_0")}, {}, what + "_negative");
    return c.emit("add", {positive, negative}, {}, what);
  };
  const ValueId cost = mixed("softplus", "cost"), missed = mixed("sigmoid", "missed");
  ValueId values = c.emit("mul", {cost, modulated(c, missed)}, {}, "values");
  const double alpha = c.settings.real("alpha");
  if (alpha >= 0) values = c.emit("mul", {values, balanced(c, target, rest, alpha)}, {}, "balanced");
  return mean_of_elements(c, values);
}

const RegisterLoss focal(
    {.name = "focal",
     .doc = "mean of -(1 - q)^gamma log q, q = sigmoid(x) of targets of 1 and sigmoid(-x) of those of 0, times alpha "
            "and 1 - alpha",
     .inputs = {"logits", "target"},
     .settings = {{.name = "alpha",
                   .type = KeyType::real,
                   .doc = "what targets of 1 weigh, those of 0 the rest of 1; below 0 all weigh 1",
                   .fallback = 0.25,
                   .range = ir::between(-1, 1)},
                  {.name = "gamma",
                   .type = KeyType::real,
                   .doc = "the power by which less counts what is right; 0: cross-entropy",
                   .fallback = 2.0,
                   .range = as_f32(ir::kNotNegative)}},
     .mean = mean,
     .count = count_of_elements});

}  // namespace
}  // namespace heddle::frontend
