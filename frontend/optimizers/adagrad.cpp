// adagrad, by torch.optim.Adagrad (Duchi et al. 2011).
#include "frontend/optimizers/parts.h"

namespace heddle::frontend {
namespace {

using ir::ValueId;

// lr / (1 + step * lr_decay)
ValueId decayed_rate(UpdateContext& c, double decay) {
  if (decay == 0) return c.lr;
  return c.shared("adagrad.rate", [&] {
    const ValueId step = finished_steps(c, ir::DType::f32);
    const ValueId grown = c.b("mul", {step, c.b.like(decay, step)}, {}, "adagrad.grown");
    return c.b("div", {c.lr, c.b("add", {grown, c.b.like(1, grown)}, {}, "adagrad.divisor")}, {}, "adagrad.rate");
  });
}

UpdateResult update(UpdateContext& c) {
  const double initial = c.settings.real("initial_accumulator_value");
  const ValueId gradient = with_decay(c);
  const ValueId sum = c.emit("add", {c.slots[0], c.emit("square", {gradient}, "squared")}, "sum.next");
  // States begin with zero: what PyTorch's begins with is added where it is read.
  const ValueId whole = initial == 0 ? sum : c.emit("add", {sum, c.b.like(initial, sum)}, "sum.whole");
  const ValueId denominator = root_and_eps(c, whole);
  const ValueId rate = decayed_rate(c, c.settings.real("lr_decay"));
  return {stepped(c, c.parameter, c.emit("div", {gradient, denominator}, "direction"), rate), {sum}};
}

const RegisterOptimizer adagrad({
    .name = "adagrad",
    .doc = "the gradient over the root of the sum of all its squares",
    .settings = {{.name = "lr_decay",
                  .type = KeyType::real,
                  .doc = "the rate is lr / (1 + finished steps * lr_decay)",
                  .fallback = 0.0,
                  .range = as_f32(ir::kNotNegative)},
                 {.name = "initial_accumulator_value",
                  .type = KeyType::real,
                  .doc = "the sum before the first step",
                  .fallback = 0.0,
                  .range = as_f32(ir::kNotNegative)},
                 {.name = "eps",
                  .type = KeyType::real,
                  .doc = "added outside the root",
                  .fallback = 1e-10,
                  .range = as_f32(ir::kNotNegative)}},
    .default_lr = 0.01,
    .sparse = true,
    .slots = [](const Settings&) { return std::vector<std::string>{"sum"}; },
    .update = update,
});

}  // namespace
}  // namespace heddle::frontend
