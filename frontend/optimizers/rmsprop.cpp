// rmsprop, by torch.optim.RMSprop (Hinton's lecture; centred: Graves 2013, arXiv:1308.0850).
#include "frontend/optimizers/parts.h"

namespace heddle::frontend {
namespace {

using ir::ValueId;

UpdateResult update(UpdateContext& c) {
  const double alpha = c.settings.real("alpha"), momentum = c.settings.real("momentum");
  const ValueId gradient = with_decay(c);
  ir::Values next;
  const ValueId v = moving_average(c, c.slots[0], c.emit("square", {gradient}, "squared"), alpha, "v");
  next.push_back(v);
  ValueId variance = v;
  if (c.settings.flag("centered")) {
    const ValueId mean = moving_average(c, c.slots[next.size()], gradient, alpha, "mean");
    next.push_back(mean);
    const ValueId difference = c.emit("sub", {v, c.emit("square", {mean}, "mean.squared")}, "variance.rounded");
    // Where gradients hardly change it is a rounding, which may be below 0: PyTorch's root of that is nan.
    variance = c.emit("max", {difference, c.b.like(0, difference)}, "variance");
  }
  const ValueId denominator = root_and_eps(c, variance);
  ValueId direction = c.emit("div", {gradient, denominator}, "direction");
  if (momentum != 0) {
    direction = c.emit("add", {c.scaled(c.slots[next.size()], momentum, "momentum.kept"), direction}, "momentum.next");
    next.push_back(direction);
  }
  return {stepped(c, c.parameter, direction, c.lr), next};
}

const RegisterOptimizer rmsprop({
    .name = "rmsprop",
    .doc = "the gradient over the root of the mean of its squares",
    .settings =
        {{.name = "alpha", .type = KeyType::real, .doc = "decay of the squares", .fallback = 0.99, .range = ir::kShare},
         {.name = "eps",
          .type = KeyType::real,
          .doc = "added outside the root",
          .fallback = 1e-8,
          .range = as_f32(ir::kNotNegative)},
         {.name = "momentum",
          .type = KeyType::real,
          .doc = "share of the last step",
          .fallback = 0.0,
          .range = as_f32(ir::kNotNegative)},
         {.name = "centered",
          .type = KeyType::flag,
          .doc = "divide by the deviation: less the squared mean",
          .fallback = false}},
    .default_lr = 0.01,
    .slots =
        [](const Settings& settings) {
          std::vector<std::string> slots = {"v"};
          if (settings.flag("centered")) slots.emplace_back("mean");
          if (settings.real("momentum") != 0) slots.emplace_back("momentum");
          return slots;
        },
    .update = update,
});

}  // namespace
}  // namespace heddle::frontend
