// kl_divergence, by torch.nn.KLDivLoss with reduction "batchmean".
#include <numeric>

#include "frontend/training/measure_parts.h"

namespace heddle::frontend {
namespace {

using ir::Dims;
using ir::ValueId;

ValueId count(MeasureContext& c) {
  return c.weights.valid() ? sum_of(c, c.weights, {}, "weight_of_rows") : c.count(static_cast<double>(c.rows));
}

// Over rows: the sum of target (log target - log_probabilities), where a target of 0 costs nothing.
ValueId mean(MeasureContext& c) {
  check_values(c);
  const Dims dims = c.b.type(c.in[0]).dims;
  if (dims.empty() || dims[0] != c.rows)
    c.fail("expected a distribution for each row of the batch, found " + c.shape_text(dims), "");
  c.b.prefix = c.name + ".constant";
  const ValueId target = c.in[1], zero = c.b.like(0, target);
  const ValueId nothing = c.emit("eq", {target, zero}, {}, "target_is_zero");
  const ValueId safe = c.emit("select", {nothing, c.b.like(1, target), target}, {}, "safe_target");
  const ValueId excess = c.emit("sub", {c.emit("log", {safe}), c.in[0]}, {}, "excess");
  const ValueId cost = c.emit("select", {nothing, zero, c.emit("mul", {target, excess}, {}, "cost")}, {}, "values");
  c.b.prefix = c.name + ".costs";
  ValueId wide = c.b.cast(cost, ir::DType::f32);
  if (c.weights.valid()) wide = c.emit("mul", {wide, spread_weights(c, dims)}, {}, "weighed");
  return ratio(c, sum_of(c, wide, {}, "cost_sum"), count(c));
}

const RegisterLoss kl_divergence({.name = "kl_divergence",
                                  .doc = "mean of the rows' sums of t (log t - x), as PyTorch's batchmean",
                                  .inputs = {"log_probabilities", "target"},
                                  .mean = mean,
                                  .count = count});

}  // namespace
}  // namespace heddle::frontend
