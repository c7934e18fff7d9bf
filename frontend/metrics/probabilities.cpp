// brier and log_loss: how good probabilities are, as scikit-learn's brier_score_loss and log_loss of what softmax, or
// sigmoid, makes of logits.
#include "frontend/training/measure_parts.h"

namespace heddle::frontend {
namespace {

using ir::Dims;
using ir::DType;
using ir::ValueId;

// A target for each logit, instead of a class for each row.
bool is_binary(MeasureContext& c) { return c.b.type(c.in[0]).dims == c.b.type(c.in[1]).dims; }

ValueId wide_logits(MeasureContext& c) {
  c.b.prefix = c.name + ".logits";
  return c.b.cast(c.in[0], DType::f32);
}

struct Rows {
  ValueId costs, counts;  // f32, bool: of each row, or of each logit
};

// `cost` is that of logits, each with its target.
template <class Cost>
Rows of_targets(MeasureContext& c, Cost cost) {
  c.b.prefix = c.name + ".target_f32";
  const ValueId target = c.b.cast(check_targets(c), DType::f32);
  const double ignored = static_cast<double>(c.settings.integer("ignore_index"));
  return {cost(wide_logits(c), target), c.emit("ne", {target, like(c, ignored, target)}, {}, "valid")};
}

ValueId squares_of_targets(MeasureContext& c, ValueId logits, ValueId target) {
  const ValueId p = c.emit("sigmoid", {logits}, {}, "probability");
  return c.emit("square", {c.emit("sub", {p, target}, {}, "off")}, {}, "squares");
}

// t softplus(-x) + (1 - t) softplus(x)
ValueId logs_of_targets(MeasureContext& c, ValueId logits, ValueId target) {
  const ValueId rest = c.emit("sub", {like(c, 1, target), target}, {}, "rest");
  const ValueId missed = c.emit("softplus", {c.emit("neg", {logits}, {}, "against")}, {}, "missed");
  const ValueId extra = c.emit("softplus", {logits}, {}, "false_alarm");
  return c.emit("add", {c.emit("mul", {target, missed}, {}, "positive"), c.emit("mul", {rest, extra}, {}, "negative")},
                {}, "costs");
}

// Over classes, halved where there are two: then both differences are one.
ValueId squares_of_classes(MeasureContext& c, ValueId hits) {
  const ValueId p = c.emit("softmax", {wide_logits(c)}, {}, "probabilities");
  const Dims dims = c.b.type(p).dims;
  const ValueId off = c.emit("sub", {p, as_number(c, hits, "hits")}, {}, "off");
  const ValueId sum = sum_of(c, c.emit("square", {off}, {}, "squares"), last_axis(dims), "row_squares");
  return dims.back() == 2 ? c.emit("mul", {sum, like(c, 0.5, sum)}, {}, "half") : sum;
}

ValueId logs_of_classes(MeasureContext& c, ValueId hits) {
  const ValueId logs = c.emit("log_softmax", {wide_logits(c)}, {}, "log_probabilities");
  const ValueId picked = c.emit("select", {hits, logs, like(c, 0, logs)}, {}, "picked");
  return c.emit("neg", {sum_of(c, picked, last_axis(c.b.type(logs).dims), "label_log")}, {}, "costs");
}

Rows of_classes(MeasureContext& c, ValueId (*cost)(MeasureContext&, ValueId hits)) {
  check_classes(c);
  const ValueId hits = label_hits(c);
  return {infinite_where_unknown(c, cost(c, hits), hits), valid_rows(c)};
}

Rows squares(MeasureContext& c) {
  if (!is_binary(c)) return of_classes(c, squares_of_classes);
  return of_targets(c, [&](ValueId x, ValueId t) { return squares_of_targets(c, x, t); });
}
Rows logs(MeasureContext& c) {
  if (!is_binary(c)) return of_classes(c, logs_of_classes);
  return of_targets(c, [&](ValueId x, ValueId t) { return logs_of_targets(c, x, t); });
}

MetricDef probability_metric(const std::string& name, const std::string& doc, Rows (*rows)(MeasureContext&)) {
  const auto sum = [rows](MeasureContext& c) {
    const Rows r = rows(c);
    return sum_of(c, c.emit("select", {r.counts, r.costs, like(c, 0, r.costs)}, {}, "counted_costs"), {}, "cost_sum");
  };
  const auto count = [rows](MeasureContext& c) {
    return sum_of(c, as_number(c, rows(c).counts, "counts"), {}, "counted_rows");
  };
  return ratio_metric(
      {.name = name, .doc = doc, .inputs = class_inputs(), .settings = {ignore_setting()}, .classes = true}, sum,
      count);
}

const RegisterMetric brier(probability_metric(
    "brier", "mean square of what probabilities are off; of several classes the sum over them", squares));
const RegisterMetric log_loss(probability_metric("log_loss", "mean of -log of the probability of what was there",
                                                 logs));

}  // namespace
}  // namespace heddle::frontend
