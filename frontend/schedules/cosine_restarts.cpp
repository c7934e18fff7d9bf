// cosine_restarts, by torch.optim.lr_scheduler.CosineAnnealingWarmRestarts (Loshchilov and Hutter 2016,
// arXiv:1608.03983).
#include <cmath>

#include "frontend/schedules/parts.h"

namespace heddle::frontend {
namespace {

using ir::ValueId;

// The share of the cycle that is over: cycles of one length.
ValueId share_of_equal(ScheduleContext& c, ValueId s, double first) {
  ir::Builder& b = c.b;
  const ValueId cycles = b("div", {s, b.like(first, s)}, {}, "lr.cycles");
  const ValueId before = b("mul", {b("floor", {cycles}, {}, "lr.cycle"), b.like(first, s)}, {}, "lr.cycle.begin");
  return b("div", {b("sub", {s, before}, {}, "lr.in_cycle"), b.like(first, s)}, {}, "lr.t");
}

// Cycle n begins at first (factor^n - 1) / (factor - 1) and has first factor^n steps. n is the floor of a logarithm,
// which in f64 is nearer than `kBelow` to what it is at a beginning.
ValueId share_of_growing(ScheduleContext& c, ValueId s, double first, double factor) {
  constexpr double kBelow = 1e-12;
  ir::Builder& b = c.b;
  const ValueId grown = b("mul", {s, b.like((factor - 1) / first, s)}, {}, "lr.grown");
  const ValueId logarithm = b("log1p", {grown}, {}, "lr.logarithm");
  const ValueId exact = b("mul", {logarithm, b.like(1 / std::log(factor), s)}, {}, "lr.cycles");
  const ValueId n = b("floor", {b("add", {exact, b.like(kBelow, s)}, {}, "lr.cycles.guarded")}, {}, "lr.cycle");
  const ValueId power = b("round", {b("pow", {b.like(factor, n), n}, {}, "lr.power")}, {}, "lr.power.whole");
  const ValueId length = b("mul", {power, b.like(first, power)}, {}, "lr.cycle.length");
  const ValueId below = b("sub", {length, b.like(first, length)}, {}, "lr.cycle.below");
  const ValueId before = b("div", {below, b.like(factor - 1, below)}, {}, "lr.cycle.begin");
  return b("div", {b("sub", {s, before}, {}, "lr.in_cycle"), length}, {}, "lr.t_wide");
}

ValueId build(ScheduleContext& c) {
  ir::Builder& b = c.b;
  const double peak = rate(c, "peak"), low = rate(c, "min"), warmup = warmup_steps(c);
  const auto first = static_cast<double>(c.settings.integer("steps"));
  const auto factor = static_cast<double>(c.settings.integer("factor"));
  const ValueId steps = since(c, warmup);
  const ValueId s = warmup == 0 ? steps : b("max", {steps, b.like(0, steps)}, {}, "lr.behind_warmup");
  const ValueId t = factor == 1 ? share_of_equal(c, s, first)
                                : b.cast(share_of_growing(c, b.cast(s, ir::DType::f64), first, factor), ir::DType::f32);
  return with_warmup(c, warmup, peak, half_cosine(c, t, peak, low));
}

const RegisterSchedule cosine_restarts(
    {.name = "cosine_restarts",
     .doc = "cosines from peak to min one after another: the first over `steps` steps, each next one `factor` times as "
            "long",
     .settings =
         {rate_setting("peak", "the largest rate"),
          low_setting("the rate at a cycle's end"),
          {.name = "steps", .doc = "optimizer steps of the first cycle", .required = true, .range = ir::at_least(1)},
          {.name = "factor",
           .doc = "a cycle's length over that of the last",
           .fallback = int64_t{1},
           .range = ir::at_least(1)},
          warmup_setting()},
     .build = build});

}  // namespace
}  // namespace heddle::frontend
