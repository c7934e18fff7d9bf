// lamb (You et al. 2019, arXiv:1904.00962, algorithm 2), with norms as they are.
#include "frontend/optimizers/parts.h"

namespace heddle::frontend {
namespace {

using ir::ValueId;

ValueId norm(UpdateContext& c, ValueId v, const std::string& name) {
  return c.emit("sqrt", {c.emit("squared_norm", {v}, name + ".squared_norm")}, name + ".norm");
}

// The norm of the parameter over that of its step; 1 where one of them is 0.
ValueId trust(UpdateContext& c, ValueId direction) {
  const ValueId of_parameter = norm(c, c.parameter, "parameter"), of_step = norm(c, direction, "direction");
  const ValueId zero = c.b.like(0, of_step), one = c.b.like(1, of_step);
  const ValueId both =
      c.emit("and", {c.emit("gt", {of_parameter, zero}, "is_large"), c.emit("gt", {of_step, zero}, "moves")}, "both");
  return c.emit("select", {both, c.emit("div", {of_parameter, of_step}, "norms"), one}, "trust");
}

UpdateResult update(UpdateContext& c) {
  const auto [beta1, beta2] = betas_of(c.settings);
  const ValueId m = moving_average(c, c.slots[0], c.gradient, beta1, "m");
  const ValueId v = moving_average(c, c.slots[1], c.emit("square", {c.gradient}, "squared"), beta2, "v");
  const ValueId first = c.spread(bias_correction(c, beta1, "lamb.correction1"), "correction1");
  const ValueId second = c.spread(bias_correction(c, beta2, "lamb.correction2"), "correction2");
  const ValueId denominator = root_and_eps(c, c.emit("div", {v, second}, "v.corrected"));
  ValueId direction = c.emit("div", {c.emit("div", {m, first}, "m.corrected"), denominator}, "ratio");
  if (c.decay != 0) direction = c.emit("add", {direction, c.scaled(c.parameter, c.decay, "decay")}, "direction");
  const ValueId rate = c.emit("mul", {c.lr, trust(c, direction)}, "own_rate");
  return {stepped(c, c.parameter, direction, rate), {m, v}};
}

const RegisterOptimizer lamb({.name = "lamb",
                              .doc = "Adam's step, of each parameter as long as the parameter's norm",
                              .settings = moment_settings(1e-6),
                              .check = check_betas,
                              .slots = moments,
                              .update = update});

}  // namespace
}  // namespace heddle::frontend
