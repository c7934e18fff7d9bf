// mse, rmse, mae: means of what predictions are off.
#include "frontend/measure_parts.h"

namespace heddle::frontend {
namespace {

using ir::ValueId;

ValueId differences(MeasureContext& c, std::string_view op) {
  check_values(c);
  return c.emit("reduce_sum", {c.emit(op, {c.emit("sub", c.in, {}, "difference")})});
}
ValueId squares(MeasureContext& c) { return differences(c, "square"); }

const RegisterMetric mse({.name = "mse",
                          .doc = "mean of the squared differences",
                          .inputs = pair_inputs(),
                          .numerator = squares,
                          .denominator = count_of_elements});
const RegisterMetric rmse({.name = "rmse",
                           .doc = "square root of the mean of the squared differences",
                           .inputs = pair_inputs(),
                           .finish = "sqrt",
                           .numerator = squares,
                           .denominator = count_of_elements});
const RegisterMetric mae({.name = "mae",
                          .doc = "mean of the absolute differences",
                          .inputs = pair_inputs(),
                          .numerator = [](MeasureContext& c) { return differences(c, "abs"); },
                          .denominator = count_of_elements});

}  // namespace
}  // namespace heddle::frontend
