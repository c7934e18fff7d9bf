// one_cycle, by torch.optim.lr_scheduler.OneCycleLR (Smith and Topin 2017, arXiv:1708.07120); the momentum stays.
#include <fmt/format.h>

#include "frontend/schedules/parts.h"

namespace heddle::frontend {
namespace {

using ir::ValueId;

// From `from` at step `first` to `to` at step `last`.
ValueId between(ScheduleContext& c, double first, double last, double from, double to) {
  const ValueId t = share_of(c, first, last - first);
  return c.settings.text("anneal") == "linear" ? ramp(c, t, from, to) : half_cosine(c, t, from, to);
}

// `early` up to step `last`, `late` from there. Without an early phase, `late`.
ValueId until(ScheduleContext& c, double first, double last, const std::function<ValueId()>& early, ValueId late) {
  if (last <= first) return late;
  const ValueId now = c.b("le", {c.step, c.b.like(last, c.step)}, {}, "lr.phase");
  return c.b("select", {now, early(), late}, {}, "lr.joined");
}

struct Cycle {
  double peak = 0, start = 0, low = 0, rise = 0;  // rise: the share of the training
};

Cycle cycle_of(const ScheduleContext& c) {
  const double peak = rate(c, "peak"), rise = c.settings.real("pct_start");
  if (c.settings.flag("three_phase") && rise > 0.5)
    c.settings.fail("pct_start", fmt::format("'pct_start' of three phases must lie in [0, 0.5], is {}", rise),
                    "the rate rises and falls back over two shares of that length");
  const double start = peak / c.settings.real("div_factor");
  return {peak, start, start / c.settings.real("final_div_factor"), rise};
}

ValueId build(ScheduleContext& c) {
  const Cycle cycle = cycle_of(c);
  const double last = c.total - 1, top = cycle.rise * c.total - 1;
  if (last <= 0) return c.b.like(cycle.start, c.step);
  const auto rising = [&] { return between(c, 0, top, cycle.start, cycle.peak); };
  if (!c.settings.flag("three_phase")) {
    if (top >= last) return rising();
    return until(c, 0, top, rising, between(c, top, last, cycle.peak, cycle.low));
  }
  const double back = 2 * cycle.rise * c.total - 2;
  const ValueId end = back < last ? between(c, back, last, cycle.start, cycle.low) : c.b.like(cycle.low, c.step);
  const ValueId falling = until(
      c, top, back, [&] { return between(c, top, back, cycle.peak, cycle.start); }, end);
  return until(c, 0, top, rising, falling);
}

const RegisterSchedule one_cycle(
    {.name = "one_cycle",
     .doc = "from peak / div_factor up to peak, then down to the first rate / final_div_factor, as PyTorch's "
            "OneCycleLR; `anneal` may be `linear`; the momentum stays",
     .settings = {rate_setting("peak", "the largest rate"),
                  {.name = "pct_start",
                   .type = KeyType::real,
                   .doc = "share of the rise",
                   .fallback = 0.3,
                   .range = ir::between(0, 1)},
                  {.name = "anneal",
                   .type = KeyType::text,
                   .doc = "cos, or linear",
                   .fallback = std::string("cos"),
                   .words = {"cos", "linear"}},
                  {.name = "div_factor",
                   .type = KeyType::real,
                   .doc = "peak over the first rate",
                   .fallback = 25.0,
                   .range = as_f32(ir::kAboveZero)},
                  {.name = "final_div_factor",
                   .type = KeyType::real,
                   .doc = "first rate over the last",
                   .fallback = 1e4,
                   .range = as_f32(ir::kAboveZero)},
                  {.name = "three_phase",
                   .type = KeyType::flag,
                   .doc = "back to the first rate as fast as up, then to the last",
                   .fallback = false}},
     .needs_total = true,
     .build = build});

}  // namespace
}  // namespace heddle::frontend
