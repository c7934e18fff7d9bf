// pr_auc: average precision, of scores in bins of their sigmoid, as scikit-learn's average_precision_score of the bins.
#include "frontend/metrics/score_bins.h"

namespace heddle::frontend {
namespace {

using ir::ValueId;

// The sum over thresholds of precision times what the recall grows by: steps, not trapezoids, which would be too good
// (Davis and Goadrich 2006, "The Relationship Between Precision-Recall and ROC Curves").
ValueId finish(MeasureContext& c) {
  const ValueId positive = c.in[0], negative = c.in[1];
  const auto from_here_on = [&](ValueId counts, std::string_view name) {
    return c.emit("cumsum", {counts}, {{"axis", int64_t{0}}, {"reverse", true}}, name);
  };
  const ValueId right = from_here_on(positive, "right"), wrong = from_here_on(negative, "wrong");
  const ValueId found = c.emit("add", {right, wrong}, {}, "found");
  // Where nothing is found there is no positive either.
  const ValueId divisor = c.emit("max", {found, like(c, 1, found)}, {}, "divisor");
  const ValueId precision = c.emit("div", {right, divisor}, {}, "precision");
  const ValueId sum = sum_of(c, c.emit("mul", {positive, precision}, {}, "steps"), {}, "step_sum");
  return c.emit("div", {sum, sum_of(c, positive, {}, "positives")}, {}, "average_precision");
}

const RegisterMetric pr_auc({.name = "pr_auc",
                             .doc = "average precision: the area under the steps of precision over recall",
                             .inputs = {"scores", "targets"},
                             .higher_is_better = true,
                             .settings = score_bin_settings(),
                             .states = score_bin_states,
                             .next = next_score_bins,
                             .finish = finish});

}  // namespace
}  // namespace heddle::frontend
