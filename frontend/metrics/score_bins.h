// Histograms of scores: the numbers of positives and negatives whose sigmoid of the score lies in each of several equal
// bins. They are the state of metrics over all thresholds (auc, pr_auc). Scores in the same bin count as equal.
#pragma once
#include "frontend/training/measure_parts.h"

namespace heddle::frontend {

std::vector<Key> score_bin_settings();                         // the keys bins and ignore_index
std::vector<MetricState> score_bin_states(MeasureContext& c);  // "positive" and "negative", f64[bins] each
ir::Values next_score_bins(MeasureContext& c, const ir::Values& old);

}  // namespace heddle::frontend
