#include "frontend/schedules/parts.h"

namespace heddle::frontend {
namespace {

ir::ValueId build(ScheduleContext& c) { return over_training(c, ramp); }

const RegisterSchedule linear({.name = "linear",
                               .doc = "peak + (min - peak) t",
                               .settings = {rate_setting("peak", "the largest rate"), low_setting("the last rate"),
                                            warmup_setting()},
                               .needs_total = true,
                               .build = build});

}  // namespace
}  // namespace heddle::frontend
