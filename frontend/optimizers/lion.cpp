// lion (Chen et al. 2023, arXiv:2302.06675).
#include "frontend/optimizers/parts.h"

namespace heddle::frontend {
namespace {

using ir::ValueId;

constexpr Betas kDefault = {0.9, 0.99};

UpdateResult update(UpdateContext& c) {
  const auto [beta1, beta2] = betas_of(c.settings, kDefault);
  const ValueId mixed =
      c.emit("add", {c.scaled(c.slots[0], beta1, "mixed.kept"), c.scaled(c.gradient, 1 - beta1, "mixed.new")}, "mixed");
  const ValueId m = moving_average(c, c.slots[0], c.gradient, beta2, "m");
  // Decay joins the direction, as in the paper: one rounding of the parameter in a step. A second
  // one would be of nearly the same numbers in each step, as the direction is, and err to the same
  // side.
  const ValueId direction = c.emit("sign", {mixed}, "direction");
  const ValueId all =
      c.decay == 0 ? direction : c.emit("add", {direction, c.scaled(c.parameter, c.decay, "decay")}, "decayed");
  return {stepped(c, c.parameter, all, c.lr), {m}};
}

const RegisterOptimizer lion({
    .name = "lion",
    .doc = "the sign of a mixture of momentum and gradient, weight decay decoupled",
    .settings = {{.name = "betas",
                  .type = KeyType::real,
                  .count = Count::several,
                  .doc = "share of the momentum in the step, and what is kept of it: [0.9, 0.99]",
                  .range = ir::kShare}},
    .default_lr = 1e-4,
    .check = check_betas,
    .slots = [](const Settings&) { return std::vector<std::string>{"m"}; },
    .update = update,
});

}  // namespace
}  // namespace heddle::frontend
