// poisson_nll, by torch.nn.PoissonNLLLoss.
#include "frontend/training/measure_parts.h"

namespace heddle::frontend {
namespace {

using ir::ValueId;

// exp(x) - t x of a logarithm x, or x - t log(x + eps) of the rate itself; less log t!, which no gradient sees.
ValueId mean(MeasureContext& c) {
  const ValueId target = check_targets(c), x = c.in[0];
  const double eps = c.settings.real("eps");
  const bool logarithm = c.settings.flag("log_input");
  c.b.prefix = c.name + ".constant";
  const ValueId rate = logarithm ? c.emit("exp", {x}, {}, "rate") : x;
  const ValueId log =
      logarithm ? x : c.emit("log", {c.emit("add", {x, c.b.like(eps, x)}, {}, "above")}, {}, "log_rate");
  const ValueId seen = c.emit("mul", {target, log}, {}, "seen");
  return mean_of_elements(c, c.emit("sub", {rate, seen}, {}, "values"));
}

const RegisterLoss poisson_nll(
    {.name = "poisson_nll",
     .doc = "mean of exp(x) - t x for counts t of a rate exp(x); without log_input of x - t log(x + eps), x the rate",
     .inputs = {"log_rate", "target"},
     .settings = {{.name = "log_input",
                   .type = KeyType::flag,
                   .doc = "else the first input is the rate itself: x - t log(x + eps)",
                   .fallback = true},
                  {.name = "eps",
                   .type = KeyType::real,
                   .doc = "added to the rate",
                   .fallback = 1e-8,
                   .range = as_f32(ir::kAboveZero)}},
     .mean = mean,
     .count = count_of_elements});

}  // namespace
}  // namespace heddle::frontend
