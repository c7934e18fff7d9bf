// balanced_accuracy, mcc and kappa: numbers of the confusion matrix, as scikit-learn's balanced_accuracy_score,
// matthews_corrcoef and cohen_kappa_score.
#include "frontend/metrics/confusion.h"

namespace heddle::frontend {
namespace {

using ir::Dims;
using ir::ValueId;

// In the matrix, f64[classes, classes].
ValueId place(MeasureContext& c, int64_t axis, const std::string& what) {
  return c.emit("iota", {}, {{"axis", axis}, {"shape", c.b.type(c.in[0]).dims}}, what);
}
ValueId actual(MeasureContext& c) { return sum_of(c, c.in[0], {1}, "actual"); }
ValueId predicted(MeasureContext& c) { return sum_of(c, c.in[0], {0}, "predicted"); }

// [classes]: how many rows of each class are predicted as it.
ValueId right(MeasureContext& c) {
  const ValueId on = c.emit("eq", {place(c, 0, "line"), place(c, 1, "column")}, {}, "on_diagonal");
  return sum_of(c, c.emit("select", {on, c.in[0], like(c, 0, c.in[0])}, {}, "diagonal"), {1}, "right");
}

ValueId product_sum(MeasureContext& c, ValueId a, ValueId b, const std::string& what) {
  return sum_of(c, c.emit("mul", {a, b}, {}, what + "_products"), {}, what);
}

// Over classes that have rows. `adjusted`: 0 is what guessing gets.
ValueId finish_balanced(MeasureContext& c) {
  const ValueId rows = actual(c), recall = ratio(c, right(c), rows);
  const ValueId has_rows = c.emit("gt", {rows, like(c, 0, rows)}, {}, "has_rows");
  const ValueId present = c.emit("cast", {has_rows}, {{"dtype", std::string("f64")}}, "present");
  const ValueId classes = sum_of(c, present, {}, "present_classes");
  const ValueId mean = c.emit("div", {sum_of(c, recall, {}, "recall_sum"), classes}, {}, "mean_recall");
  if (!c.settings.flag("adjusted")) return mean;
  const ValueId one = like(c, 1, classes), chance = c.emit("div", {one, classes}, {}, "chance");
  const ValueId above = c.emit("sub", {mean, chance}, {}, "above_chance");
  return c.emit("div", {above, c.emit("sub", {one, chance}, {}, "most_above_chance")}, {}, "adjusted");
}

// Gorodkin 2004, doi 10.1016/j.compbiolchem.2004.09.006; 0 where all rows are, or are predicted as, one class.
ValueId finish_mcc(MeasureContext& c) {
  const ValueId t = actual(c), p = predicted(c), n = sum_of(c, t, {}, "rows");
  const ValueId squared = c.emit("square", {n}, {}, "rows_squared");
  const auto spread = [&](ValueId v, const std::string& what) {
    return c.emit("sub", {squared, product_sum(c, v, v, what + "_square")}, {}, what + "_spread");
  };
  const ValueId hits = c.emit("mul", {sum_of(c, right(c), {}, "right_rows"), n}, {}, "right_by_rows");
  const ValueId shared = c.emit("sub", {hits, product_sum(c, t, p, "by_chance")}, {}, "covariance");
  const ValueId both = c.emit("mul", {spread(t, "actual"), spread(p, "predicted")}, {}, "spreads");
  const ValueId zero = like(c, 0, both), nothing = c.emit("eq", {both, zero}, {}, "no_spread");
  const ValueId safe = c.emit("select", {nothing, like(c, 1, both), both}, {}, "safe_spreads");
  const ValueId found = c.emit("div", {shared, c.emit("sqrt", {safe}, {}, "deviations")}, {}, "correlation");
  return c.emit("select", {nothing, zero, found}, {}, "correlation_or_zero");
}

// What a row of class i costs that is predicted as class j.
ValueId cost(MeasureContext& c) {
  const std::string weighting = c.settings.text("weighting");
  const ValueId line = place(c, 0, "line"), column = place(c, 1, "column");
  if (weighting == "none")
    return c.emit("cast", {c.emit("ne", {line, column}, {}, "differ")}, {{"dtype", std::string("f64")}}, "cost");
  const ValueId steps =
      c.emit("cast", {c.emit("sub", {line, column}, {}, "steps")}, {{"dtype", std::string("f64")}}, "steps_f64");
  return c.emit(weighting == "linear" ? "abs" : "square", {steps}, {}, "cost");
}

// Cohen 1960, doi 10.1177/001316446002000104: 1 - cost / (cost by chance).
ValueId finish_kappa(MeasureContext& c) {
  const Dims dims = c.b.type(c.in[0]).dims;
  const ValueId costs = cost(c), t = actual(c), p = predicted(c), n = sum_of(c, t, {}, "rows");
  const auto spread = [&](ValueId v, int64_t axis, const std::string& what) {
    return c.emit("broadcast", {v}, {{"shape", dims}, {"dims", Dims{axis}}}, what);
  };
  const ValueId pairs =
      c.emit("mul", {spread(t, 0, "actual_spread"), spread(p, 1, "predicted_spread")}, {}, "pairs_by_chance");
  const ValueId found = c.emit("mul", {product_sum(c, costs, c.in[0], "found_cost"), n}, {}, "found_by_rows");
  const ValueId share = c.emit("div", {found, product_sum(c, costs, pairs, "chance_cost")}, {}, "cost_share");
  return c.emit("sub", {like(c, 1, share), share}, {}, "agreement");
}

MetricDef with(MetricDef def, Key setting) {
  def.settings.push_back(std::move(setting));
  return def;
}

const RegisterMetric balanced(
    with(agreement_metric("balanced_accuracy", "mean of the recall of classes that have rows", finish_balanced),
         {.name = "adjusted", .type = KeyType::flag, .doc = "scaled so that guessing gets 0", .fallback = false}));
const RegisterMetric mcc(agreement_metric(
    "mcc", "Matthews' correlation of labels and predictions: 1 all right, 0 as by chance", finish_mcc));
const RegisterMetric kappa(
    with(agreement_metric("kappa", "Cohen's kappa: 1 all right, 0 as by chance", finish_kappa),
         {.name = "weighting",
          .type = KeyType::text,
          .doc = "what a wrong class costs: all alike, by how many classes it is away, or by the square of that",
          .fallback = std::string("none"),
          .words = {"none", "linear", "quadratic"}}));

}  // namespace
}  // namespace heddle::frontend
