// How many positives and negatives have their score in each of some equal bins of its sigmoid: the state of metrics that
// look at every threshold (auc, pr_auc). Scores of one bin count as equal.
#pragma once
#include "frontend/training/measure_parts.h"

namespace heddle::frontend {

std::vector<Key> score_bin_settings();                         // bins, ignore_index
std::vector<MetricState> score_bin_states(MeasureContext& c);  // "positive" and "negative", f64[bins] each
ir::Values next_score_bins(MeasureContext& c, const ir::Values& old);

}  // namespace heddle::frontend
