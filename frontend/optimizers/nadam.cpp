// nadam, by torch.optim.NAdam (Dozat 2016).
#include <cmath>

#include "frontend/optimizers/parts.h"

namespace heddle::frontend {
namespace {

using ir::ValueId;

// mu(t) = beta1 (1 - 0.96^(t decay) / 2)
ValueId momentum_at(UpdateContext& c, ValueId t, double beta1, double decay, const std::string& name) {
  ir::Builder& b = c.b;
  const ValueId exponent = b("mul", {t, b.like(decay * std::log(0.96), t)}, {}, name + ".exponent");
  const ValueId fading = b("exp", {exponent}, {}, name + ".fading");
  const ValueId less = b("mul", {fading, b.like(-beta1 / 2, fading)}, {}, name + ".less");
  return b("add", {less, b.like(beta1, less)}, {}, name);
}

struct Rates {
  ValueId gradient, momentum;  // what the two parts of the step are multiplied with
};

// lr (1 - mu(t)) / (1 - product of mu up to t), and lr mu(t+1) / (1 - the product up to t+1). What is kept is
// 1 - product, which begins with 0.
Rates rates(UpdateContext& c, double beta1) {
  ir::Builder& b = c.b;
  const double decay = c.settings.real("momentum_decay");
  const auto rest = [&](ValueId v, const std::string& name) { return b("sub", {b.like(1, v), v}, {}, name); };
  const ValueId now = c.shared(
      "nadam.mu", [&] { return momentum_at(c, step_number(c, "nadam", ir::DType::f64), beta1, decay, "nadam.mu"); });
  const ValueId ahead = c.shared("nadam.mu_ahead", [&] {
    const ValueId t = step_number(c, "nadam.ahead", ir::DType::f64);
    return momentum_at(c, b("add", {t, b.like(1, t)}, {}, "nadam.t_ahead"), beta1, decay, "nadam.mu_ahead");
  });
  const ValueId spent = c.kept("nadam.spent", [&](ValueId old) {
    return b("add", {rest(now, "nadam.mu_rest"), b("mul", {old, now}, {}, "nadam.spent.kept")}, {}, "nadam.spent.next");
  });
  const ValueId gradient = c.shared("nadam.gradient", [&] {
    const ValueId share = b("div", {rest(now, "nadam.share"), spent}, {}, "nadam.gradient_share");
    return b("mul", {wide_rate(c), share}, {}, "nadam.gradient");
  });
  const ValueId momentum = c.shared("nadam.momentum", [&] {
    const ValueId product = b("mul", {rest(spent, "nadam.product"), ahead}, {}, "nadam.product_ahead");
    const ValueId share = b("div", {ahead, rest(product, "nadam.spent_ahead")}, {}, "nadam.momentum_share");
    return b("mul", {wide_rate(c), share}, {}, "nadam.momentum");
  });
  return {narrow(c, gradient, "nadam.gradient_rate"), narrow(c, momentum, "nadam.momentum_rate")};
}

UpdateResult update(UpdateContext& c) {
  const auto [beta1, beta2] = betas_of(c.settings);
  const ValueId gradient = with_decay(c);
  const ValueId m = moving_average(c, c.slots[0], gradient, beta1, "m");
  const ValueId v = moving_average(c, c.slots[1], c.emit("square", {gradient}, "squared"), beta2, "v");
  const ValueId correction = bias_correction(c, beta2, "nadam.correction");
  const ValueId denominator = root_and_eps(c, c.emit("div", {v, c.spread(correction, "correction")}, "v.corrected"));
  const Rates rate = rates(c, beta1);
  const ValueId fresh = c.emit("mul", {gradient, c.spread(rate.gradient, "gradient_rate")}, "fresh");
  const ValueId ahead = c.emit("mul", {m, c.spread(rate.momentum, "momentum_rate")}, "ahead");
  const ValueId change = c.emit("div", {c.emit("add", {fresh, ahead}, "direction"), denominator}, "change");
  return {c.emit("sub", {c.parameter, change}, "next"), {m, v}};
}

std::vector<Key> settings() {
  std::vector<Key> all = moment_settings();
  all.push_back({.name = "momentum_decay",
                 .type = KeyType::real,
                 .doc = "how fast the momentum grows to the first of the betas",
                 .fallback = 4e-3,
                 .range = as_f32(ir::kNotNegative)});
  return all;
}

const RegisterOptimizer nadam({
    .name = "nadam",
    .doc = "Adam with Nesterov's look ahead",
    .settings = settings(),
    .default_lr = 2e-3,
    .check = check_betas,
    .slots = moments,
    .update = update,
});

}  // namespace
}  // namespace heddle::frontend
