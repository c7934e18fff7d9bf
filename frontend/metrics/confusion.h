// The confusion matrix as the state of a metric, and metrics computed from it.
#pragma once
#include "frontend/training/measure_parts.h"

namespace heddle::frontend {

// f64[classes, classes]: element [i, j] is the number of rows of class i that were predicted as class j. With the
// setting "threshold" there are two classes, and one score for each row.
std::vector<MetricState> confusion_states(MeasureContext& c);
ir::Values next_confusion(MeasureContext& c, const ir::Values& old);

// A metric of classes and labels, with ignore_index and threshold. `finish` computes the metric from the matrix.
MetricDef agreement_metric(std::string name, std::string doc, std::function<ir::ValueId(MeasureContext&)> finish);

}  // namespace heddle::frontend
