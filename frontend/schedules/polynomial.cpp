// polynomial, by torch.optim.lr_scheduler.PolynomialLR over the whole training.
#include "frontend/schedules/parts.h"

namespace heddle::frontend {
namespace {

using ir::ValueId;

// min + (peak - min) (1 - t)^power
ValueId build(ScheduleContext& c) {
  ir::Builder& b = c.b;
  const double peak = rate(c, "peak"), low = rate(c, "min"), power = positive_real(c, "power");
  const double warmup = warmup_steps(c);
  const ValueId t = share_of(c, warmup, length_after(c, warmup));
  const ValueId left = b("sub", {b.like(1, t), t}, {}, "lr.left");
  const ValueId share = b("pow", {left, b.like(power, left)}, {}, "lr.power");
  return with_warmup(c, warmup, peak, ramp(c, share, low, peak));
}

const RegisterSchedule polynomial(
    {.name = "polynomial",
     .doc = "a power of the share of the training that is left, between peak and min",
     .settings = {rate_setting("peak", "the largest rate"),
                  low_setting("the last rate"),
                  {.name = "power", .type = SettingType::real, .doc = "the exponent", .fallback = 1.0},
                  warmup_setting()},
     .needs_total = true,
     .build = build});

}  // namespace
}  // namespace heddle::frontend
