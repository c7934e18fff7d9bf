// adamax, by torch.optim.Adamax (Kingma and Ba 2014, arXiv:1412.6980, section 7.1).
#include "frontend/optimizers/parts.h"

namespace heddle::frontend {
namespace {

using ir::ValueId;

UpdateResult update(UpdateContext& c) {
  const auto [beta1, beta2] = betas_of(c.settings);
  const ValueId gradient = with_decay(c);
  const ValueId m = moving_average(c, c.slots[0], gradient, beta1, "m");
  const ValueId size = c.emit("abs", {gradient}, "size");
  const ValueId above = c.emit("add", {size, c.b.like(c.settings.real("eps"), size)}, "above");
  const ValueId largest = c.emit("max", {c.scaled(c.slots[1], beta2, "largest.kept"), above}, "largest.next");
  const ValueId rate = c.shared("adamax.rate", [&, beta1 = beta1] {
    return c.b("div", {c.lr, bias_correction(c, beta1, "adamax.correction")}, {}, "adamax.rate");
  });
  return {stepped(c, c.parameter, c.emit("div", {m, largest}, "direction"), rate), {m, largest}};
}

const RegisterOptimizer adamax({
    .name = "adamax",
    .doc = "Adam with the largest of the decayed gradients in place of the second moment",
    .settings = moment_settings(),
    .default_lr = 2e-3,
    .check = check_betas,
    .slots =
        [](const Settings&) {
          return std::vector<std::string>{"m", "largest"};
        },
    .update = update,
});

}  // namespace
}  // namespace heddle::frontend
