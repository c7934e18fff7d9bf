#include "frontend/schedules/parts.h"

namespace heddle::frontend {
namespace {

const RegisterSchedule constant({.name = "constant",
                                 .doc = "value",
                                 .settings = {rate_setting("value", "the rate"), warmup_setting()},
                                 .build = [](ScheduleContext& c) {
                                   const double value = rate(c, "value");
                                   return with_warmup(c, warmup_steps(c), value, c.b.like(value, c.step));
                                 }});

}  // namespace
}  // namespace heddle::frontend
