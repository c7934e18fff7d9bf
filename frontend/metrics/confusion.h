// The confusion matrix as the state of a metric, and what is computed of it.
#pragma once
#include "frontend/training/measure_parts.h"

namespace heddle::frontend {

// f64[classes, classes]: how many rows of class i (a line) were predicted as class j (a column). With a setting
// "threshold" there are two classes, of one score for each row.
std::vector<MetricState> confusion_states(MeasureContext& c);
ir::Values next_confusion(MeasureContext& c, const ir::Values& old);

// Of classes and labels, with ignore_index and threshold: `finish` computes a number of the matrix.
MetricDef agreement_metric(std::string name, std::string doc, std::function<ir::ValueId(MeasureContext&)> finish);

}  // namespace heddle::frontend
