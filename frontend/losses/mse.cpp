#include "frontend/training/measure_parts.h"

namespace heddle::frontend {
namespace {

ir::ValueId mean(MeasureContext& c) {
  check_values(c);
  return mean_of_elements(c, c.emit("square", {c.emit("sub", c.in, {}, "difference")}));
}

const RegisterLoss mse(
    {.name = "mse", .doc = "mean of (x - t)^2", .inputs = pair_inputs(), .mean = mean, .count = count_of_elements});

}  // namespace
}  // namespace heddle::frontend
