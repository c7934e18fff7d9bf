// mae, by torch.nn.L1Loss.
#include "frontend/training/measure_parts.h"

namespace heddle::frontend {
namespace {

ir::ValueId mean(MeasureContext& c) {
  check_values(c);
  return mean_of_elements(c, c.emit("abs", {c.emit("sub", c.in, {}, "difference")}));
}

const RegisterLoss mae(
    {.name = "mae", .doc = "mean of |x - t|", .inputs = pair_inputs(), .mean = mean, .count = count_of_elements});

}  // namespace
}  // namespace heddle::frontend
