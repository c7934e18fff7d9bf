// Metrics that are ratios of counts: of a class of rows, or of labels that a threshold makes of scores.
//
//   {"op": "recall", "in": ["p", "t"], "threshold": 0.5}   ->   (p > 0.5 and t) / t
#pragma once
#include "frontend/training/measure_parts.h"

namespace heddle::frontend {

// Rows (or labels) of a class that are predicted as it, that are predicted as it or are not, its rows, and all rows:
// numbers, or one for each class. `rows` is there where the metric asks for it.
struct Counts {
  ir::ValueId both, predicted, actual, rows;
};
using Term = ir::ValueId (*)(MeasureContext& c, const Counts& n);

struct CountRatio {
  Term above, below;
  bool needs_rows = false;
};

// What all of them have beside their counts.
Key threshold_setting();
Key average_setting();
bool has_threshold(const MeasureContext& c);
// Says where a label for each score needs a threshold to be compared with.
void check_class_scores(MeasureContext& c);

MetricDef counted_metric(const std::string& name, const std::string& doc, CountRatio ratio);

// With a threshold.
std::vector<MetricState> label_states(MeasureContext& c, const CountRatio& ratio);
ir::Values next_labels(MeasureContext& c, const CountRatio& ratio, const ir::Values& old);
ir::ValueId finish_counts(MeasureContext& c, const CountRatio& ratio);

// What a threshold makes of scores and targets: bool, of one shape, whose last axis are labels where a row has several.
struct Labels {
  ir::ValueId predicted, actual, valid;
  ir::Dims dims;
  int64_t labels = 1;
};
Labels read_labels(MeasureContext& c);

}  // namespace heddle::frontend
