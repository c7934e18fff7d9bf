// polynomial, by torch.optim.lr_scheduler.PolynomialLR over the whole training.
#include "frontend/schedules/parts.h"

namespace heddle::frontend {
namespace {

using ir::ValueId;

// min + (peak - min) (1 - t)^power
ValueId build(ScheduleContext& c) {
  const double power = c.settings.real("power");
  return over_training(c, [power](ScheduleContext& on, ValueId t, double peak, double low) {
    const ValueId left = on.b("sub", {on.b.like(1, t), t}, {}, "lr.left");
    const ValueId share = on.b("pow", {left, on.b.like(power, left)}, {}, "lr.power");
    return ramp(on, share, low, peak);
  });
}

const RegisterSchedule polynomial({.name = "polynomial",
                                   .doc = "min + (peak - min) (1 - t)^power",
                                   .settings = {rate_setting("peak", "the largest rate"),
                                                low_setting("the last rate"),
                                                {.name = "power",
                                                 .type = KeyType::real,
                                                 .doc = "the exponent",
                                                 .fallback = 1.0,
                                                 .range = as_f32(ir::kAboveZero)},
                                                warmup_setting()},
                                   .needs_total = true,
                                   .build = build});

}  // namespace
}  // namespace heddle::frontend
