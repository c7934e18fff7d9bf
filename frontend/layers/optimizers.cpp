// Optimizers, by the formulas of torch.optim.
#include <fmt/format.h>

#include <cmath>

#include "frontend/training_def.h"

namespace heddle::frontend {
namespace {

using ir::ValueId;

// Coupled decay: the gradient of the penalty joins the gradient.
ValueId with_decay(UpdateContext& c) {
  if (c.decay == 0) return c.gradient;
  return c.emit("add", {c.gradient, c.scaled(c.parameter, c.decay, "decay")}, "penalised");
}

// The gradient times 1 - dampening, but in the first step, where PyTorch's velocity is the gradient itself.
ValueId damped(UpdateContext& c, ValueId gradient, double dampening) {
  const ValueId share = c.shared("sgd.share", [&] {
    const ValueId first = c.b("eq", {c.step, c.b.like(0, c.step)}, {}, "sgd.first");
    const ir::Type scalar{ir::DType::f32, {}};
    return c.b("select", {first, c.b.constant(1, scalar), c.b.constant(1 - dampening, scalar)}, {}, "sgd.share");
  });
  return c.emit("mul", {gradient, c.spread(share, "share")}, "damped");
}

UpdateResult update_sgd(UpdateContext& c) {
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

// 1 - beta^t at t = step + 1, as -expm1(t log beta): exact to the last bits in f32 where 1 - pow would lose most of
// them. 1 where nothing is kept.
ValueId bias_correction(UpdateContext& c, double beta, const std::string& name) {
  return c.shared(name, [&] {
    ir::Builder& b = c.b;
    const ValueId next = b("add", {c.step, b.like(1, c.step)}, {}, name + ".count");
    const ValueId t = b("cast", {next}, {{"dtype", std::string("f32")}}, name + ".t");
    if (beta == 0) return b.like(1, t);
    const ValueId exponent = b("mul", {t, b.like(std::log(beta), t)}, {}, name + ".exponent");
    return b("neg", {b("expm1", {exponent}, {}, name + ".negative")}, {}, name);
  });
}

// Kingma and Ba 2014 (arXiv:1412.6980); `parameter` already carries decoupled decay where there is any.
UpdateResult adam_step(UpdateContext& c, ValueId parameter, ValueId gradient) {
  const std::vector<double> given = c.settings.reals("betas");
  const double beta1 = given.empty() ? 0.9 : given.at(0), beta2 = given.empty() ? 0.999 : given.at(1);
  const double eps = c.settings.real("eps");
  const ValueId m =
      c.emit("add", {c.scaled(c.slots[0], beta1, "m.kept"), c.scaled(gradient, 1 - beta1, "m.new")}, "m.next");
  const ValueId squared = c.emit("square", {gradient}, "squared");
  const ValueId v =
      c.emit("add", {c.scaled(c.slots[1], beta2, "v.kept"), c.scaled(squared, 1 - beta2, "v.new")}, "v.next");
  // rate * m / (sqrt(v) / root + eps) with root = sqrt(1 - beta2^t), as in PyTorch; both sides of the fraction times
  // root, which leaves one division for each element.
  const ValueId root = c.shared(
      "adam.root", [&] { return c.b("sqrt", {bias_correction(c, beta2, "adam.correction2")}, {}, "adam.root"); });
  const ValueId rate = c.shared("adam.rate", [&] {
    const ValueId unscaled = c.b("div", {c.lr, bias_correction(c, beta1, "adam.correction1")}, {}, "adam.unscaled");
    return c.b("mul", {unscaled, root}, {}, "adam.rate");
  });
  const ValueId least = c.shared("adam.eps", [&] { return c.b("mul", {root, c.b.like(eps, root)}, {}, "adam.eps"); });
  const ValueId denominator = c.emit("add", {c.emit("sqrt", {v}, "root"), c.spread(least, "eps")}, "denominator");
  const ValueId change =
      c.emit("mul", {c.emit("div", {m, denominator}, "direction"), c.spread(rate, "rate")}, "change");
  return {c.emit("sub", {parameter, change}, "next"), {m, v}};
}

UpdateResult update_adam(UpdateContext& c) { return adam_step(c, c.parameter, with_decay(c)); }

// Loshchilov and Hutter 2017 (arXiv:1711.05101): the parameter shrinks by 1 - lr * decay, apart from the gradient.
UpdateResult update_adamw(UpdateContext& c) {
  if (c.decay == 0) return adam_step(c, c.parameter, c.gradient);
  const ValueId shrink = c.shared("adamw.shrink", [&] {
    const ValueId part = c.b("mul", {c.lr, c.b.like(c.decay, c.lr)}, {}, "adamw.decay");
    return c.b("sub", {c.b.like(1, part), part}, {}, "adamw.shrink");
  });
  return adam_step(c, c.emit("mul", {c.parameter, c.spread(shrink, "shrink")}, "shrunk"), c.gradient);
}

const std::vector<SettingDef> kAdam = {
    {.name = "betas", .type = SettingType::reals, .doc = "decay of the two moments: [0.9, 0.999]"},
    {.name = "eps", .type = SettingType::real, .doc = "added outside the root", .fallback = 1e-8}};

void require_not_negative(const Settings& settings, const std::string& name) {
  if (!(settings.real(name) >= 0))
    settings.fail(name, fmt::format("'{}' must not be negative, is {}", name, settings.real(name)));
}

std::vector<std::string> adam_slots(const Settings& settings) {
  require_not_negative(settings, "eps");
  const std::vector<double> betas = settings.reals("betas");
  if (settings.json("betas") == nullptr) return {"m", "v"};
  if (betas.size() != 2) settings.fail("betas", fmt::format("'betas' takes two numbers, got {}", betas.size()));
  for (const double beta : betas) {
    if (!(beta >= 0 && beta < 1)) settings.fail("betas", fmt::format("'betas' must lie in [0, 1), got {}", beta));
  }
  return {"m", "v"};
}

std::vector<std::string> sgd_slots(const Settings& settings) {
  const double momentum = settings.real("momentum");
  require_not_negative(settings, "momentum");
  if (settings.flag("nesterov") && (momentum == 0 || settings.real("dampening") != 0)) {
    settings.fail("nesterov", "'nesterov' needs a momentum and no dampening");
  }
  return momentum == 0 ? std::vector<std::string>{} : std::vector<std::string>{"momentum"};
}

const RegisterOptimizer sgd({
    .name = "sgd",
    .doc = "stochastic gradient descent, with momentum where given",
    .settings =
        {{.name = "momentum", .type = SettingType::real, .doc = "share of the last velocity kept", .fallback = 0.0},
         {.name = "dampening",
          .type = SettingType::real,
          .doc = "share of the gradient that does not enter the velocity",
          .fallback = 0.0},
         {.name = "nesterov", .type = SettingType::flag, .doc = "look ahead along the velocity", .fallback = false}},
    .slots = sgd_slots,
    .update = update_sgd,
});
const RegisterOptimizer adam({.name = "adam",
                              .doc = "Adam, weight decay coupled",
                              .settings = kAdam,
                              .slots = adam_slots,
                              .update = update_adam});
const RegisterOptimizer adamw({.name = "adamw",
                               .doc = "Adam with decoupled weight decay",
                               .settings = kAdam,
                               .default_decay = 0.01,
                               .slots = adam_slots,
                               .update = update_adamw});

}  // namespace
}  // namespace heddle::frontend
