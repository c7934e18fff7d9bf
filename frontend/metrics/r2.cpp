// r2: the share of the targets' variance that predictions explain.
#include "frontend/training/measure_parts.h"

namespace heddle::frontend {
namespace {

using ir::Dims;
using ir::ValueId;

// Of each element of a row: the targets' mean, their squared deviations from it, and the squared errors.
std::vector<MetricState> states(MeasureContext& c) {
  check_values(c);
  const Dims dims = c.b.type(c.in[0]).dims;
  if (dims.empty())
    c.fail("expected values for each row, found one number", "give it what a node computes of each row");
  const Dims row(dims.begin() + 1, dims.end());
  return {{"rows"}, {"mean", row}, {"deviations", row}, {"errors", row}};
}

ValueId spread(MeasureContext& c, ValueId scalar, const Dims& dims, std::string_view name) {
  return dims.empty() ? scalar : c.emit("broadcast", {scalar}, {{"shape", dims}}, name);
}

// Means and deviations of two sets make those of both without large sums that cancel: Chan, Golub and LeVeque 1983,
// "Algorithms for Computing the Sample Variance".
ir::Values next(MeasureContext& c, const ir::Values& old) {
  const ValueId predicted = wide(c.b, c.in[0]), target = wide(c.b, c.in[1]);
  const Dims dims = c.b.type(target).dims, row = c.b.type(old[1]).dims;
  c.b.prefix = c.name + ".constant";
  const ValueId own = c.b.like(static_cast<double>(dims[0]), old[0]);
  const ValueId rows = c.emit("add", {old[0], own}, {}, "rows.next");
  const ValueId share = spread(c, c.emit("div", {own, rows}, {}, "share"), row, "spread_share");
  const ValueId mean = c.emit("reduce_mean", {target}, {{"axes", Dims{0}}}, "batch_mean");
  Dims row_axes;
  for (int64_t i = 1; i < std::ssize(dims); ++i) row_axes.push_back(i);
  const ValueId means = c.emit("broadcast", {mean}, {{"shape", dims}, {"dims", row_axes}}, "spread_mean");
  const auto squares = [&](ValueId from, std::string_view name) {
    const ValueId off = c.emit("sub", {target, from}, {}, "off");
    return sum_of(c, c.emit("square", {off}), {0}, std::string(name));
  };
  const ValueId apart = c.emit("sub", {mean, old[1]}, {}, "apart");
  const ValueId moved = c.emit("mul", {apart, share}, {}, "moved");
  const ValueId before = spread(c, old[0], row, "spread_rows");
  const ValueId between = c.emit("mul", {c.emit("mul", {apart, moved}, {}, "apart_squared"), before}, {}, "between");
  const ValueId within = c.emit("add", {squares(means, "batch_deviations"), between}, {}, "batch_spread");
  return {rows, c.emit("add", {old[1], moved}, {}, "mean.next"), c.emit("add", {old[2], within}, {}, "deviations.next"),
          c.emit("add", {old[3], squares(predicted, "batch_errors")}, {}, "errors.next")};
}

ValueId finish(MeasureContext& c) {
  const ValueId left = c.emit("div", {c.in[3], c.in[2]}, {}, "left");
  c.b.prefix = c.name + ".one";
  const ValueId explained = c.emit("sub", {c.b.like(1, left), left}, {}, "explained");
  return c.b.type(explained).dims.empty() ? explained : c.emit("reduce_mean", {explained}, {}, "mean_of_outputs");
}

const RegisterMetric r2({.name = "r2",
                         .doc = "1 - squared errors / squared deviations from the mean; the mean over a row's elements",
                         .inputs = pair_inputs(),
                         .higher_is_better = true,
                         .states = states,
                         .next = next,
                         .finish = finish});

}  // namespace
}  // namespace heddle::frontend
