#include "frontend/schedules/parts.h"

namespace heddle::frontend {
namespace {

// min + (peak - min) (1 + cos(pi t)) / 2 with t from 0 at the end of warm-up to 1 at the last step.
// Loshchilov and Hutter 2016 (arXiv:1608.03983), without restarts.
ir::ValueId build(ScheduleContext& c) { return over_training(c, half_cosine); }

const RegisterSchedule cosine(
    {.name = "cosine",
     .doc = "min + (peak - min) (1 + cos(pi t)) / 2, t from 0 after the warm-up to 1 at the end",
     .settings = {rate_setting("peak", "the largest rate"), low_setting("the last rate"), warmup_setting()},
     .needs_total = true,
     .build = build});

}  // namespace
}  // namespace heddle::frontend
