#include "frontend/schedules/parts.h"

namespace heddle::frontend {
namespace {

ir::ValueId build(ScheduleContext& c) { return over_training(c, ramp); }

const RegisterSchedule linear({.name = "linear",
                               .doc = "a straight line from peak to min over the training, after a warm-up where given",
                               .settings = {rate_setting("peak", "the largest rate"), low_setting("the last rate"),
                                            warmup_setting()},
                               .needs_total = true,
                               .build = build});

}  // namespace
}  // namespace heddle::frontend
