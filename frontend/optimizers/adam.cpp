// adam, adamw, by torch.optim.Adam and AdamW.
#include "frontend/optimizers/parts.h"

namespace heddle::frontend {
namespace {

using ir::ValueId;

// eps outside the root of what is corrected; torch.optim.SparseAdam adds it to the root as it is.
ValueId eps_of(UpdateContext& c, ValueId root) {
  const double eps = c.settings.real("eps");
  const ValueId least = c.shared("adam.eps", [&] { return c.b("mul", {root, c.b.like(eps, root)}, {}, "adam.eps"); });
  return c.spread(least, "eps");
}

// Kingma and Ba 2014 (arXiv:1412.6980); `parameter` already carries decoupled decay where there is any.
UpdateResult adam_step(UpdateContext& c, ValueId parameter, ValueId gradient) {
  const auto [beta1, beta2] = betas_of(c.settings);
  const ValueId m = moving_average(c, c.slots[0], gradient, beta1, "m");
  const ValueId v = moving_average(c, c.slots[1], c.emit("square", {gradient}, "squared"), beta2, "v");
  // rate * m / (sqrt(v) / root + eps) with root = sqrt(1 - beta2^t), as in PyTorch; both sides of the fraction times
  // root, which leaves one division for each element.
  const ValueId root = c.shared("adam.root", [&, beta2 = beta2] {
    return c.b("sqrt", {bias_correction(c, beta2, "adam.correction2")}, {}, "adam.root");
  });
  const ValueId rate = c.shared("adam.rate", [&, beta1 = beta1] {
    const ValueId unscaled = c.b("div", {c.lr, bias_correction(c, beta1, "adam.correction1")}, {}, "adam.unscaled");
    return c.b("mul", {unscaled, root}, {}, "adam.rate");
  });
  const ValueId denominator =
      c.sparse ? root_and_eps(c, v) : c.emit("add", {c.emit("sqrt", {v}, "root"), eps_of(c, root)}, "denominator");
  return {stepped(c, parameter, c.emit("div", {m, denominator}, "direction"), rate), {m, v}};
}

const RegisterOptimizer adam({.name = "adam",
                              .doc = "Adam, weight decay coupled",
                              .settings = moment_settings(),
                              .check = check_betas,
                              .sparse = true,
                              .slots = moments,
                              .update = [](UpdateContext& c) { return adam_step(c, c.parameter, with_decay(c)); }});
// Loshchilov and Hutter 2017 (arXiv:1711.05101).
const RegisterOptimizer adamw({.name = "adamw",
                               .doc = "Adam with decoupled weight decay",
                               .settings = moment_settings(),
                               .default_decay = 0.01,
                               .check = check_betas,
                               .sparse = true,
                               .slots = moments,
                               .update = [](UpdateContext& c) { return adam_step(c, shrunk(c), c.gradient); }});

}  // namespace
}  // namespace heddle::frontend
