// Metrics that are ratios of counts, such as precision and recall: for classes of rows, or for scores with a threshold.
//
//   {"op": "recall", "in": ["p", "t"], "threshold": 0.5}   ->   (p > 0.5 and t) / t
#pragma once
#include "frontend/training/measure_parts.h"

namespace heddle::frontend {

// Counts of rows (or labels), one number or one per class. `both`: of the class and predicted as the class.
// `predicted`: predicted as the class. `actual`: of the class. `rows`: all rows; only with CountRatio::needs_rows.
struct Counts {
  ir::ValueId both, predicted, actual, rows;
};
using Term = ir::ValueId (*)(MeasureContext& c, const Counts& n);

struct CountRatio {
  Term above, below;
  bool needs_rows = false;
};

// Settings of these metrics.
Key threshold_setting();
Key average_setting();
bool has_threshold(const MeasureContext& c);
// Throws UserError if the inputs have a label for each score, but there is no threshold.
void check_class_scores(MeasureContext& c);

MetricDef counted_metric(const std::string& name, const std::string& doc, CountRatio ratio);

// The states, their update and the result of a metric with a threshold.
std::vector<MetricState> label_states(MeasureContext& c, const CountRatio& ratio);
ir::Values next_labels(MeasureContext& c, const CountRatio& ratio, const ir::Values& old);
ir::ValueId finish_counts(MeasureContext& c, const CountRatio& ratio);

// Scores and targets after comparison with the threshold: bool, of one shape. If a row has several labels, they are the
// last axis.
struct Labels {
  ir::ValueId predicted, actual, valid;
  ir::Dims dims;
  int64_t labels = 1;
};
Labels read_labels(MeasureContext& c);

}  // namespace heddle::frontend
