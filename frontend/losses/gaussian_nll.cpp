// gaussian_nll, by torch.nn.GaussianNLLLoss (Nix and Weigend 1994, doi 10.1109/ICNN.1994.374138).
#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "frontend/training/measure_parts.h"
#include "frontend/vector_norm.h"

namespace heddle::frontend {
namespace {

using ir::ValueId;

void check_variance(MeasureContext& c) {
  const ir::Type &predicted = c.b.type(c.in[0]), &variance = c.b.type(c.in[2]);
  if (variance == predicted) return;
  c.fail(fmt::format("expected a variance {}{} for each element, found {}{}", ir::to_string(predicted.dtype),
                     c.shape_text(predicted.dims), ir::to_string(variance.dtype), c.shape_text(variance.dims)),
         "{\"op\": \"broadcast_to\"} repeats one along axes; exp or softplus makes what a network computes positive");
}

// (log v + (x - t)^2 / v) / 2. As in PyTorch, v counts as eps where it is smaller, and has its gradient all the same.
ValueId mean(MeasureContext& c) {
  const ValueId target = check_targets(c);
  check_variance(c);
  const ValueId variance = raised_to(c.b, c.name + ".variance", c.in[2], c.settings.real("eps"));
  const ValueId difference = c.emit("sub", {c.in[0], target}, {}, "difference");
  const ValueId squares = c.emit("div", {c.emit("square", {difference}), variance}, {}, "scaled_square");
  const ValueId both = c.emit("add", {c.emit("log", {variance}, {}, "log_variance"), squares}, {}, "twice");
  ValueId values = c.emit("mul", {both, like(c, 0.5, both)}, {}, "values");
  if (c.settings.flag("full")) {
    const double constant = 0.5 * std::log(2 * std::numbers::pi);
    values = c.emit("add", {values, like(c, constant, values)}, {}, "full_values");
  }
  return mean_of_elements(c, values);
}

const RegisterLoss gaussian_nll(
    {.name = "gaussian_nll",
     .doc = "mean of (log v + (x - t)^2 / v) / 2, v the variance that is predicted, at least eps",
     .inputs = {"predicted", "target", "variance"},
     .settings = {{.name = "full",
                   .type = KeyType::flag,
                   .doc = "with log(2 pi) / 2, which no gradient sees",
                   .fallback = false},
                  {.name = "eps",
                   .type = KeyType::real,
                   .doc = "the least variance",
                   .fallback = 1e-6,
                   .range = as_f32(ir::kAboveZero)}},
     .mean = mean,
     .count = count_of_elements});

}  // namespace
}  // namespace heddle::frontend
