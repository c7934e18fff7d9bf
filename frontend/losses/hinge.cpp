#include "frontend/training/measure_parts.h"

namespace heddle::frontend {
namespace {

using ir::ValueId;

// max(0, 1 - target * predicted), target -1 or 1.
ValueId mean(MeasureContext& c) {
  const ValueId target = check_targets(c);
  const ValueId agreement = c.emit("mul", {c.in[0], target}, {}, "agreement");
  c.b.prefix = c.name + ".margin";
  const ValueId missing = c.emit("sub", {c.b.like(1, agreement), agreement}, {}, "missing");
  return mean_of_elements(c, c.emit("relu", {missing}));
}

const RegisterLoss hinge({.name = "hinge",
                          .doc = "mean of max(0, 1 - t x), targets -1 and 1",
                          .inputs = pair_inputs(),
                          .mean = mean,
                          .count = count_of_elements});

}  // namespace
}  // namespace heddle::frontend
