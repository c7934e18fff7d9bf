// sgd, by torch.optim.SGD.
#include "frontend/optimizers/parts.h"

namespace heddle::frontend {
namespace {

using ir::ValueId;

// The gradient times 1 - dampening, but in the first step, where PyTorch's velocity is the gradient itself.
ValueId damped(UpdateContext& c, ValueId gradient, double dampening) {
  const ValueId share = c.shared("sgd.share", [&] {
    const ValueId step = finished_steps(c, ir::DType::f64);
    const ValueId first = c.b("eq", {step, c.b.like(0, step)}, {}, "sgd.first");
    const ir::Type scalar{ir::DType::f32, {}};
    return c.b("select", {first, c.b.constant(1, scalar), c.b.constant(1 - dampening, scalar)}, {}, "sgd.share");
  });
  return c.emit("mul", {gradient, c.spread(share, "share")}, "damped");
}

UpdateResult update(UpdateContext& c) {
  ValueId direction = with_decay(c);
  ir::Values slots;
  if (!c.slots.empty()) {
    const double momentum = c.settings.real("momentum"), dampening = c.settings.real("dampening");
    const ValueId fresh = dampening == 0 ? direction : damped(c, direction, dampening);
    const ValueId velocity = c.emit("add", {c.scaled(c.slots[0], momentum, "kept"), fresh}, "momentum.next");
    slots.push_back(velocity);
    direction = c.settings.flag("nesterov")
                    ? c.emit("add", {direction, c.scaled(velocity, momentum, "ahead")}, "direction")
                    : velocity;
  }
  const ValueId change = c.emit("mul", {direction, c.spread(c.lr, "lr")}, "change");
  return {c.emit("sub", {c.parameter, change}, "next"), slots};
}

void check(const Settings& settings) {
  if (settings.flag("nesterov") && (settings.real("momentum") == 0 || settings.real("dampening") != 0)) {
    settings.fail("nesterov", "'nesterov' needs a momentum and no dampening");
  }
}

// A velocity is that of its row: the first step of a training, which leaves it undamped, says nothing of rows.
void check_sparse(const Settings& settings) {
  if (settings.real("dampening") != 0)
    settings.fail("dampening", "'dampening' does not go with sparse embeddings", "leave out one of the two");
}

const RegisterOptimizer sgd({
    .name = "sgd",
    .doc = "stochastic gradient descent, with momentum where given",
    .settings =
        {{.name = "momentum",
          .type = KeyType::real,
          .doc = "share of the last velocity kept",
          .fallback = 0.0,
          .range = as_f32(ir::kNotNegative)},
         {.name = "dampening",
          .type = KeyType::real,
          .doc = "share of the gradient that does not enter the velocity",
          .fallback = 0.0,
          .range = ir::as_f32({})},
         {.name = "nesterov", .type = KeyType::flag, .doc = "look ahead along the velocity", .fallback = false}},
    .check = check,
    .sparse = true,
    .check_sparse = check_sparse,
    .slots =
        [](const Settings& settings) {
          return settings.real("momentum") == 0 ? std::vector<std::string>{} : std::vector<std::string>{"momentum"};
        },
    .update = update,
});

}  // namespace
}  // namespace heddle::frontend
