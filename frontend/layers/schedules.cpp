// Learning-rate schedules as IR of the step counter, so that a rate is never sent to the device.
#include <fmt/format.h>

#include <numbers>

#include "frontend/layer_context.h"
#include "frontend/training_def.h"

namespace heddle::frontend {
namespace {

using ir::ValueId;

double rate(const ScheduleContext& c, const std::string& name) {
  const double value = c.settings.real(name);
  if (!(value >= 0))
    c.settings.fail(name, fmt::format("'{}' must not be negative, is {}", name, value),
                    "a step against the gradient lowers the loss");
  if (!fits(value, ir::DType::f32)) c.settings.fail(name, fmt::format("'{}' is not an f32: {}", name, value));
  return value;
}

double warmup_steps(const ScheduleContext& c) {
  const int64_t warmup = c.settings.integer("warmup");
  if (warmup < 0) c.settings.fail("warmup", fmt::format("'warmup' must not be negative, is {}", warmup));
  return static_cast<double>(warmup);
}

// peak * (step + 1) / (warmup + 1) before `warmup`, `after` from there.
ValueId with_warmup(ScheduleContext& c, double warmup, double peak, ValueId after) {
  if (warmup == 0) return after;
  ir::Builder& b = c.b;
  const ValueId next = b("add", {c.step, b.like(1, c.step)}, {}, "lr.count");
  const ValueId rising = b("mul", {next, b.like(peak / (warmup + 1), next)}, {}, "lr.rising");
  const ValueId early = b("lt", {c.step, b.like(warmup, c.step)}, {}, "lr.early");
  return b("select", {early, rising, after}, {}, "lr.warm");
}

ValueId build_constant(ScheduleContext& c) {
  const double value = rate(c, "value");
  return with_warmup(c, warmup_steps(c), value, c.b.like(value, c.step));
}

// min + (peak - min) (1 + cos(pi t)) / 2 with t from 0 at the end of warm-up to 1 at the last step.
// Loshchilov and Hutter 2016 (arXiv:1608.03983), without restarts.
ValueId build_cosine(ScheduleContext& c) {
  ir::Builder& b = c.b;
  const double peak = rate(c, "peak"), low = rate(c, "min"), warmup = warmup_steps(c);
  const double length = c.total - warmup;
  if (length <= 0)
    c.settings.fail("warmup", fmt::format("warm-up of {} steps leaves nothing of {} steps", warmup, c.total));
  const ValueId since = b("sub", {c.step, b.like(warmup, c.step)}, {}, "lr.since");
  const ValueId share = b("mul", {since, b.like(1 / length, since)}, {}, "lr.share");
  const ValueId t = b("clamp", {share}, {{"low", 0.0}, {"high", 1.0}}, "lr.t");
  const ValueId wave = b("cos", {b("mul", {t, b.like(std::numbers::pi, t)}, {}, "lr.angle")}, {}, "lr.wave");
  const ValueId above = b("mul", {wave, b.like((peak - low) / 2, wave)}, {}, "lr.above");
  return with_warmup(c, warmup, peak, b("add", {above, b.like((peak + low) / 2, above)}, {}, "lr.cosine"));
}

const SettingDef kWarmup = {.name = "warmup", .doc = "steps of linear rise", .fallback = int64_t{0}};

const RegisterSchedule constant(
    {.name = "constant",
     .doc = "the same rate, after a warm-up where given",
     .settings = {{.name = "value", .type = SettingType::real, .doc = "the rate", .required = true}, kWarmup},
     .build = build_constant});
const RegisterSchedule cosine(
    {.name = "cosine",
     .doc = "half a cosine from peak to min over the training, after a warm-up where given",
     .settings = {{.name = "peak", .type = SettingType::real, .doc = "the largest rate", .required = true},
                  {.name = "min", .type = SettingType::real, .doc = "the last rate", .fallback = 0.0},
                  kWarmup},
     .needs_total = true,
     .build = build_cosine});

}  // namespace
}  // namespace heddle::frontend
