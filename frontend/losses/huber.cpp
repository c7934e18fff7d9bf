// huber, by torch.nn.HuberLoss.
#include "frontend/training/measure_parts.h"

namespace heddle::frontend {
namespace {

using ir::ValueId;

// d^2 / 2 up to |d| = delta, then delta (|d| - delta / 2).
ValueId mean(MeasureContext& c) {
  check_values(c);
  const double delta = c.settings.real("delta");
  const ValueId difference = c.emit("sub", c.in, {}, "difference"), size = c.emit("abs", {difference});
  const auto number = [&](double value) {
    c.b.prefix = c.name + ".constant";
    return c.b.like(value, size);
  };
  const ValueId near = c.emit("mul", {c.emit("square", {difference}), number(0.5)}, {}, "near");
  const ValueId above = c.emit("sub", {size, number(delta / 2)}, {}, "above");
  const ValueId far = c.emit("mul", {above, number(delta)}, {}, "far");
  const ValueId is_near = c.emit("le", {size, number(delta)}, {}, "is_near");
  return mean_of_elements(c, c.emit("select", {is_near, near, far}, {}, "values"));
}

const RegisterLoss huber({.name = "huber",
                          .doc = "mean of d^2 / 2 for d = |x - t| up to delta, then delta (d - delta / 2)",
                          .inputs = pair_inputs(),
                          .settings = {{.name = "delta",
                                        .type = KeyType::real,
                                        .doc = "where lines begin",
                                        .fallback = 1.0,
                                        .range = as_f32(ir::kAboveZero)}},
                          .mean = mean,
                          .count = count_of_elements});

}  // namespace
}  // namespace heddle::frontend
