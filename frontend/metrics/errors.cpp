// mse, rmse, mae: means of prediction errors.
#include "frontend/training/measure_parts.h"

namespace heddle::frontend {
namespace {

using ir::ValueId;

ValueId differences(MeasureContext& c, std::string_view op) {
  check_values(c);
  return c.emit("reduce_sum", {c.emit(op, {c.emit("sub", c.in, {}, "difference")})});
}
ValueId squares(MeasureContext& c) { return differences(c, "square"); }

ValueId sizes(MeasureContext& c) { return differences(c, "abs"); }

const RegisterMetric mse(ratio_metric(
    {.name = "mse", .doc = "mean of the squared differences", .inputs = pair_inputs()}, squares, count_of_elements));
const RegisterMetric rmse(
    ratio_metric({.name = "rmse", .doc = "square root of the mean of the squared differences", .inputs = pair_inputs()},
                 squares, count_of_elements, "sqrt"));
const RegisterMetric mae(ratio_metric(
    {.name = "mae", .doc = "mean of the absolute differences", .inputs = pair_inputs()}, sizes, count_of_elements));

}  // namespace
}  // namespace heddle::frontend
