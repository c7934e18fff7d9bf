// mape, by sklearn.metrics.mean_absolute_percentage_error.
#include "frontend/training/measure_parts.h"

namespace heddle::frontend {
namespace {

using ir::ValueId;

constexpr double kLeast = 0x1p-52;  // what a smaller target is taken for, as scikit-learn does

ValueId shares(MeasureContext& c) {
  check_values(c);
  const ValueId off = c.emit("abs", {c.emit("sub", c.in, {}, "difference")}, {}, "off");
  const ValueId size = c.emit("abs", {c.in[1]}, {}, "size");
  c.b.prefix = c.name + ".constant";
  const ValueId least = c.emit("max", {size, c.b.like(kLeast, size)}, {}, "not_zero");
  return c.emit("reduce_sum", {c.emit("div", {off, least}, {}, "share")});
}

const RegisterMetric mape(
    ratio_metric({.name = "mape", .doc = "mean of |x - t| / |t|, a share and not per cent", .inputs = pair_inputs()},
                 shares, count_of_elements));

}  // namespace
}  // namespace heddle::frontend
