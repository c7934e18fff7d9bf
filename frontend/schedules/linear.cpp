#include "frontend/schedules/parts.h"

namespace heddle::frontend {
namespace {

ir::ValueId build(ScheduleContext& c) {
  const double peak = rate(c, "peak"), low = rate(c, "min"), warmup = warmup_steps(c);
  const ir::ValueId t = share_of(c, warmup, length_after(c, warmup));
  return with_warmup(c, warmup, peak, ramp(c, t, peak, low));
}

const RegisterSchedule linear({.name = "linear",
                               .doc = "a straight line from peak to min over the training, after a warm-up where given",
                               .settings = {rate_setting("peak", "the largest rate"), low_setting("the last rate"),
                                            warmup_setting()},
                               .needs_total = true,
                               .build = build});

}  // namespace
}  // namespace heddle::frontend
