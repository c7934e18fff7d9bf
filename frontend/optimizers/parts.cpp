#include "frontend/optimizers/parts.h"

#include <fmt/format.h>

#include <cmath>

#include "frontend/layer_context.h"

namespace heddle::frontend {

using ir::ValueId;

ValueId with_decay(UpdateContext& c) {
  if (c.decay == 0) return c.gradient;
  return c.emit("add", {c.gradient, c.scaled(c.parameter, c.decay, "decay")}, "penalised");
}

// Not times 1 - lr * decay: near 1 that number is off by up to 2^-25, the same way in each step,
// which adds up to a hundred times as much in a hundred steps. The part that is taken away is off
// by as little as it is small itself.
ValueId shrunk(UpdateContext& c) {
  if (c.decay == 0) return c.parameter;
  const ValueId part = c.shared("decay.part", [&] {
    return c.b("mul", {c.lr, c.b.like(c.decay, c.lr)}, {}, "decay.part");
  });
  return c.emit("sub", {c.parameter, c.emit("mul", {c.parameter, c.spread(part, "part")}, "decay")}, "shrunk");
}

ValueId moving_average(UpdateContext& c, ValueId old, ValueId fresh, double share, const std::string& name) {
  return c.emit("add", {c.scaled(old, share, name + ".kept"), c.scaled(fresh, 1 - share, name + ".new")},
                name + ".next");
}

ValueId root_and_eps(UpdateContext& c, ValueId v) {
  const ValueId root = c.emit("sqrt", {v}, "root");
  return c.emit("add", {root, c.b.like(c.settings.real("eps"), root)}, "denominator");
}

ValueId stepped(UpdateContext& c, ValueId parameter, ValueId direction, ValueId rate) {
  return c.emit("sub", {parameter, c.emit("mul", {direction, c.spread(rate, "rate")}, "change")}, "next");
}

ValueId step_number(UpdateContext& c, const std::string& name, ir::DType dtype) {
  const ValueId next = c.b("add", {c.step, c.b.like(1, c.step)}, {}, name + ".count");
  return c.b("cast", {next}, {{"dtype", ir::to_string(dtype)}}, name + ".t");
}

ValueId finished_steps(UpdateContext& c, ir::DType dtype) {
  return c.shared("finished." + ir::to_string(dtype), [&] {
    const ValueId t = step_number(c, "finished", ir::DType::f64);  // which holds each number exactly
    const ValueId wide = c.b("sub", {t, c.b.like(1, t)}, {}, "finished.wide");
    c.b.prefix = "finished";
    return c.b.cast(wide, dtype);
  });
}

ValueId bias_correction(UpdateContext& c, double beta, const std::string& name, ir::DType dtype) {
  return c.shared(name, [&] {
    ir::Builder& b = c.b;
    const ValueId t = step_number(c, name, dtype);
    if (beta == 0) return b.like(1, t);
    const ValueId exponent = b("mul", {t, b.like(std::log(beta), t)}, {}, name + ".exponent");
    return b("neg", {b("expm1", {exponent}, {}, name + ".negative")}, {}, name);
  });
}

ValueId wide_rate(UpdateContext& c) {
  return c.shared("lr.wide", [&] { return c.b("cast", {c.lr}, {{"dtype", std::string("f64")}}, "lr.wide"); });
}

ValueId narrow(UpdateContext& c, ValueId v, const std::string& name) {
  return c.shared(name, [&] { return c.b("cast", {v}, {{"dtype", std::string("f32")}}, name); });
}

Betas betas_of(const Settings& settings, const Betas& fallback) {
  const std::vector<double> given = settings.reals("betas");
  return given.empty() ? fallback : Betas{given.at(0), given.at(1)};
}

void check_betas(const Settings& settings) {
  if (settings.json("betas") == nullptr) return;
  const std::vector<double> betas = settings.reals("betas");
  if (betas.size() != 2) settings.fail("betas", fmt::format("'betas' takes two numbers, got {}", betas.size()));
}

std::vector<Key> moment_settings(double eps) {
  return {{.name = "betas",
           .type = KeyType::real,
           .count = Count::several,
           .doc = "decay of the two moments: [0.9, 0.999]",
           .range = ir::kShare},
          {.name = "eps",
           .type = KeyType::real,
           .doc = "added outside the root",
           .fallback = eps,
           .range = as_f32(ir::kNotNegative)}};
}

std::vector<std::string> moments(const Settings&) { return {"m", "v"}; }

}  // namespace heddle::frontend
