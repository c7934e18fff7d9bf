// step, by torch.optim.lr_scheduler.StepLR.
#include "frontend/schedules/parts.h"

namespace heddle::frontend {
namespace {

using ir::ValueId;

// value * gamma^floor(s / steps)
ValueId build(ScheduleContext& c) {
  ir::Builder& b = c.b;
  const double value = rate(c, "value"), gamma = c.settings.real("gamma"), warmup = warmup_steps(c);
  const auto length = static_cast<double>(c.settings.integer("steps"));
  const ValueId steps = since(c, warmup);
  const ValueId stairs = b("floor", {b("div", {steps, b.like(length, steps)}, {}, "lr.share")}, {}, "lr.stairs");
  return with_warmup(c, warmup, value, decayed(c, value, gamma, stairs, "lr.step_rate"));
}

const RegisterSchedule step(
    {.name = "step",
     .doc = "value gamma^floor(s / steps), s counted from the end of the warm-up",
     .settings = {rate_setting("value", "the first rate"),
                  {.name = "steps", .doc = "optimizer steps of one rate", .required = true, .range = ir::at_least(1)},
                  {.name = "gamma",
                   .type = KeyType::real,
                   .doc = "the factor",
                   .fallback = 0.1,
                   .range = as_f32(ir::kAboveZero)},
                  warmup_setting()},
     .build = build});

}  // namespace
}  // namespace heddle::frontend
