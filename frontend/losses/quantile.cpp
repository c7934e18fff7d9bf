// quantile, the pinball loss (Koenker and Bassett 1978, doi 10.2307/1913643).
#include "frontend/training/measure_parts.h"

namespace heddle::frontend {
namespace {

using ir::ValueId;

// max(q d, (q - 1) d) for d = t - x.
ValueId mean(MeasureContext& c) {
  const ValueId target = check_targets(c), missing = c.emit("sub", {target, c.in[0]}, {}, "missing");
  const double q = c.settings.real("quantile");
  const ValueId below = c.emit("mul", {missing, like(c, q, missing)}, {}, "below");
  const ValueId above = c.emit("mul", {missing, like(c, q - 1, missing)}, {}, "above");
  return mean_of_elements(c, c.emit("max", {below, above}, {}, "values"));
}

const RegisterLoss quantile({.name = "quantile",
                             .doc = "mean of max(q d, (q - 1) d) for d = t - x: least where x is the quantile q of t",
                             .inputs = pair_inputs(),
                             .settings = {{.name = "quantile",
                                           .type = KeyType::real,
                                           .doc = "the share of targets that are to lie below; 0.5 is the median",
                                           .fallback = 0.5,
                                           .range = {.low = 0, .high = 1, .above = true, .below = true}}},
                             .mean = mean,
                             .count = count_of_elements});

}  // namespace
}  // namespace heddle::frontend
