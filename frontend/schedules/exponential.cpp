// exponential, by torch.optim.lr_scheduler.ExponentialLR.
#include "frontend/schedules/parts.h"

namespace heddle::frontend {
namespace {

// value * gamma^s
ir::ValueId build(ScheduleContext& c) {
  const double value = rate(c, "value"), gamma = c.settings.real("gamma"), warmup = warmup_steps(c);
  return with_warmup(c, warmup, value, decayed(c, value, gamma, since(c, warmup), "lr.exponential"));
}

const RegisterSchedule exponential({.name = "exponential",
                                    .doc = "value gamma^s, s counted from the end of the warm-up",
                                    .settings = {rate_setting("value", "the first rate"),
                                                 rate_setting("gamma", "the factor of a step", as_f32(ir::kAboveZero)),
                                                 warmup_setting()},
                                    .build = build});

}  // namespace
}  // namespace heddle::frontend
