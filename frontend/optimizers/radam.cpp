// radam, by torch.optim.RAdam (Liu et al. 2019, arXiv:1908.03265).
#include <cmath>

#include "frontend/optimizers/parts.h"

namespace heddle::frontend {
namespace {

using ir::ValueId;

constexpr double kShortest = 5;  // a shorter average of squares is not used

// What the moment is multiplied with, and whether the second moment is known well enough to divide by.
struct Rectified {
  ValueId rate, known;  // f32[], bool[]; known is invalid where it never is
};

// rho(t) = rho - 2 t beta2^t / (1 - beta2^t): the length of the average of squares, a difference of large numbers.
ValueId length_of_average(UpdateContext& c, double longest, double beta2, ValueId correction) {
  ir::Builder& b = c.b;
  const ValueId t = step_number(c, "radam", ir::DType::f64);
  const ValueId power = b("exp", {b("mul", {t, b.like(std::log(beta2), t)}, {}, "radam.exponent")}, {}, "radam.power");
  const ValueId twice = b("mul", {b("mul", {t, b.like(2, t)}, {}, "radam.twice"), power}, {}, "radam.part");
  const ValueId missing = b("div", {twice, correction}, {}, "radam.missing");
  return b("sub", {b.like(longest, missing), missing}, {}, "radam.length");
}

// sqrt((rho(t) - 4) (rho(t) - 2) rho / ((rho - 4) (rho - 2) rho(t)) (1 - beta2^t))
ValueId rectification(UpdateContext& c, double longest, ValueId length, ValueId correction) {
  ir::Builder& b = c.b;
  const auto above = [&](double n) { return b("sub", {length, b.like(n, length)}, {}, "radam.above"); };
  const ValueId product = b("mul", {above(4), above(2)}, {}, "radam.product");
  const double limit = longest / ((longest - 4) * (longest - 2));
  const ValueId scaled = b("mul", {product, b.like(limit, product)}, {}, "radam.scaled");
  const ValueId variance = b("mul", {b("div", {scaled, length}, {}, "radam.ratio"), correction}, {}, "radam.variance");
  return b("sqrt", {variance}, {}, "radam.rectification");
}

Rectified rectified(UpdateContext& c, const Betas& betas) {
  ir::Builder& b = c.b;
  const double longest = 2 / (1 - betas.second) - 1;
  const ValueId plain = c.shared("radam.plain", [&] {
    const ValueId correction = bias_correction(c, betas.first, "radam.correction1", ir::DType::f64);
    return b("div", {wide_rate(c), correction}, {}, "radam.plain");
  });
  if (longest <= kShortest) return {narrow(c, plain, "radam.rate"), {}};
  const ValueId correction = bias_correction(c, betas.second, "radam.correction2", ir::DType::f64);
  const ValueId length =
      c.shared("radam.length", [&] { return length_of_average(c, longest, betas.second, correction); });
  const ValueId known = c.shared("radam.known", [&] {
    return b("gt", {length, b.like(kShortest, length)}, {}, "radam.known");
  });
  const ValueId rate = c.shared("radam.rate_wide", [&] {
    const ValueId factor = rectification(c, longest, length, correction);
    const ValueId adapted = b("mul", {plain, factor}, {}, "radam.adapted");
    return b("select", {known, adapted, plain}, {}, "radam.rate_wide");
  });
  return {narrow(c, rate, "radam.rate"), known};
}

UpdateResult update(UpdateContext& c) {
  const Betas betas = betas_of(c.settings);
  const ValueId gradient = with_decay(c);
  const ValueId m = moving_average(c, c.slots[0], gradient, betas.first, "m");
  const ValueId v = moving_average(c, c.slots[1], c.emit("square", {gradient}, "squared"), betas.second, "v");
  const auto [rate, known] = rectified(c, betas);
  ValueId direction = m;
  if (known.valid()) {
    const ValueId root = c.emit("sqrt", {v}, "root");
    const ValueId above = c.emit("add", {root, c.b.like(c.settings.real("eps"), root)}, "above");
    const ValueId denominator = c.emit("select", {c.spread(known, "known"), above, c.b.like(1, root)}, "denominator");
    direction = c.emit("div", {m, denominator}, "direction");
  }
  return {stepped(c, c.parameter, direction, rate), {m, v}};
}

const RegisterOptimizer radam({.name = "radam",
                               .doc = "Adam, whose second moment counts as soon as it is known well enough",
                               .settings = moment_settings(),
                               .check = check_betas,
                               .slots = moments,
                               .update = update});

}  // namespace
}  // namespace heddle::frontend
