// exponential, by torch.optim.lr_scheduler.ExponentialLR.
#include "frontend/schedules/parts.h"

namespace heddle::frontend {
namespace {

using ir::ValueId;

// value * gamma^s
ValueId build(ScheduleContext& c) {
  ir::Builder& b = c.b;
  const double value = rate(c, "value"), gamma = positive_real(c, "gamma"), warmup = warmup_steps(c);
  const ValueId steps = since(c, warmup);
  const ValueId power = b("pow", {b.like(gamma, steps), steps}, {}, "lr.power");
  return with_warmup(c, warmup, value, b("mul", {power, b.like(value, power)}, {}, "lr.exponential"));
}

const RegisterSchedule exponential({.name = "exponential",
                                    .doc = "each step's rate is gamma times that of the step before",
                                    .settings = {rate_setting("value", "the first rate"),
                                                 rate_setting("gamma", "the factor of a step"), warmup_setting()},
                                    .build = build});

}  // namespace
}  // namespace heddle::frontend
