#include "frontend/schedules/parts.h"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "frontend/layer_context.h"

namespace heddle::frontend {

using ir::ValueId;

double rate(const ScheduleContext& c, const std::string& name) {
  const double value = c.settings.real(name);
  if (!(value >= 0))
    c.settings.fail(name, fmt::format("'{}' must not be negative, is {}", name, value),
                    "a step against the gradient lowers the loss");
  if (!fits(value, ir::DType::f32)) c.settings.fail(name, fmt::format("'{}' is not an f32: {}", name, value));
  return value;
}

double warmup_steps(const ScheduleContext& c) { return static_cast<double>(c.settings.integer("warmup")); }

double length_after(const ScheduleContext& c, double warmup) {
  const double length = c.total - warmup;
  if (length <= 0)
    c.settings.fail("warmup", fmt::format("warm-up of {} steps leaves nothing of {} steps", warmup, c.total));
  return length;
}

ValueId since(ScheduleContext& c, double warmup) {
  return warmup == 0 ? c.step : c.b("sub", {c.step, c.b.like(warmup, c.step)}, {}, "lr.since");
}

ValueId share_of(ScheduleContext& c, double warmup, double length) {
  ir::Builder& b = c.b;
  const ValueId steps = since(c, warmup);
  const ValueId share = b("mul", {steps, b.like(1 / length, steps)}, {}, "lr.share");
  return b("clamp", {share}, {{"low", 0.0}, {"high", 1.0}}, "lr.t");
}

ValueId with_warmup(ScheduleContext& c, double warmup, double peak, ValueId after) {
  if (warmup == 0) return after;
  ir::Builder& b = c.b;
  const ValueId next = b("add", {c.step, b.like(1, c.step)}, {}, "lr.count");
  const ValueId rising = b("mul", {next, b.like(peak / (warmup + 1), next)}, {}, "lr.rising");
  const ValueId early = b("lt", {c.step, b.like(warmup, c.step)}, {}, "lr.early");
  return b("select", {early, rising, after}, {}, "lr.warm");
}

ValueId half_cosine(ScheduleContext& c, ValueId t, double peak, double low) {
  ir::Builder& b = c.b;
  const ValueId wave = b("cos", {b("mul", {t, b.like(std::numbers::pi, t)}, {}, "lr.angle")}, {}, "lr.wave");
  const ValueId above = b("mul", {wave, b.like((peak - low) / 2, wave)}, {}, "lr.above");
  return b("add", {above, b.like((peak + low) / 2, above)}, {}, "lr.cosine");
}

ValueId ramp(ScheduleContext& c, ValueId t, double peak, double low) {
  const ValueId gone = c.b("mul", {t, c.b.like(low - peak, t)}, {}, "lr.gone");
  return c.b("add", {gone, c.b.like(peak, gone)}, {}, "lr.ramp");
}

ValueId over_training(ScheduleContext& c, const Curve& curve) {
  const double peak = rate(c, "peak"), low = rate(c, "min"), warmup = warmup_steps(c);
  const ValueId t = share_of(c, warmup, length_after(c, warmup));
  return with_warmup(c, warmup, peak, curve(c, t, peak, low));
}

ValueId decayed(ScheduleContext& c, double value, double gamma, ValueId times, const std::string& name) {
  ir::Builder& b = c.b;
  // gamma is what f32 holds of it, times what is missing: 1 + 1e-8 matters where it is a factor 50,000 times.
  const auto held = static_cast<double>(static_cast<float>(gamma));
  const ValueId power = b("pow", {b.like(held, times), times}, {}, "lr.power");
  const double missing = held == 0 ? 0 : std::log(gamma) - std::log(held);
  if (missing == 0) return b("mul", {power, b.like(value, power)}, {}, name);
  const ValueId exponent = b("mul", {times, b.like(missing, times)}, {}, "lr.missing");
  const ValueId whole = b("mul", {power, b("exp", {exponent}, {}, "lr.factor")}, {}, "lr.power.whole");
  return b("mul", {whole, b.like(value, whole)}, {}, name);
}

Key warmup_setting() {
  return {.name = "warmup", .doc = "steps of linear rise", .fallback = int64_t{0}, .range = ir::kNotNegative};
}

Key rate_setting(const std::string& name, const std::string& doc, ir::KeyRange range) {
  return {.name = name, .type = KeyType::real, .doc = doc, .required = true, .range = range};
}

Key low_setting(const std::string& doc) { return {.name = "min", .type = KeyType::real, .doc = doc, .fallback = 0.0}; }

}  // namespace heddle::frontend
