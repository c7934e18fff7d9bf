// adadelta, by torch.optim.Adadelta (Zeiler 2012, arXiv:1212.5701).
#include "frontend/optimizers/parts.h"

namespace heddle::frontend {
namespace {

using ir::ValueId;

ValueId root_of(UpdateContext& c, ValueId v, double eps, const std::string& name) {
  return c.emit("sqrt", {c.emit("add", {v, c.b.like(eps, v)}, name + ".above")}, name);
}

UpdateResult update(UpdateContext& c) {
  const double rho = c.settings.real("rho"), eps = c.settings.real("eps");
  const ValueId gradient = with_decay(c);
  const ValueId squares = moving_average(c, c.slots[0], c.emit("square", {gradient}, "squared"), rho, "squares");
  const ValueId ratio = c.emit("div", {root_of(c, c.slots[1], eps, "past"), root_of(c, squares, eps, "root")}, "ratio");
  const ValueId direction = c.emit("mul", {ratio, gradient}, "direction");
  const ValueId changes =
      moving_average(c, c.slots[1], c.emit("square", {direction}, "direction.squared"), rho, "changes");
  return {stepped(c, c.parameter, direction, c.lr), {squares, changes}};
}

const RegisterOptimizer adadelta({
    .name = "adadelta",
    .doc = "the gradient times the root of past changes over that of past gradients",
    .settings =
        {{.name = "rho", .type = KeyType::real, .doc = "decay of both squares", .fallback = 0.9, .range = ir::kShare},
         {.name = "eps",
          .type = KeyType::real,
          .doc = "added inside both roots",
          .fallback = 1e-6,
          .range = as_f32(ir::kNotNegative)}},
    .default_lr = 1,
    .slots =
        [](const Settings&) {
          return std::vector<std::string>{"squares", "changes"};
        },
    .update = update,
});

}  // namespace
}  // namespace heddle::frontend
