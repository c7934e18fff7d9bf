// adabelief (Zhuang et al. 2020, arXiv:2010.07468, algorithm 2).
#include "frontend/optimizers/parts.h"

namespace heddle::frontend {
namespace {

using ir::ValueId;

UpdateResult update(UpdateContext& c) {
  const auto [beta1, beta2] = betas_of(c.settings);
  const double eps = c.settings.real("eps");
  const ValueId parameter = shrunk(c);
  const ValueId m = moving_average(c, c.slots[0], c.gradient, beta1, "m");
  const ValueId surprise = c.emit("sub", {c.gradient, m}, "surprise");
  const ValueId mean = moving_average(c, c.slots[1], c.emit("square", {surprise}, "squared"), beta2, "belief");
  const ValueId s = c.emit("add", {mean, c.b.like(eps, mean)}, "s.next");
  const ValueId correction = bias_correction(c, beta2, "adabelief.correction2");
  const ValueId corrected = c.emit("div", {s, c.spread(correction, "correction")}, "s.corrected");
  const ValueId rate = c.shared("adabelief.rate", [&, beta1 = beta1] {
    return c.b("div", {c.lr, bias_correction(c, beta1, "adabelief.correction1")}, {}, "adabelief.rate");
  });
  return {stepped(c, parameter, c.emit("div", {m, root_and_eps(c, corrected)}, "direction"), rate), {m, s}};
}

const RegisterOptimizer adabelief({
    .name = "adabelief",
    .doc = "Adam with the variance of the gradients around their mean as second moment, weight decay decoupled",
    .settings = moment_settings(1e-16),
    .check = check_betas,
    .slots =
        [](const Settings&) {
          return std::vector<std::string>{"m", "s"};
        },
    .update = update,
});

}  // namespace
}  // namespace heddle::frontend
