// The parts of ndcg that rows of lists and rows of documents have in common, and ndcg of rows of documents.
//
//   scores [N], relevance [N], queries [N]: 7 7 7 | 7 9 9   of two batches  ->  the mean over the queries 7 and 9
//
// Documents of a query are neighbours, and a batch may end between them: those of its last query are held back, as states
// of the metric, until a row of another query comes or the split ends.
#pragma once
#include <vector>

#include "frontend/training/training_def.h"

namespace heddle::frontend {

// 2^relevance - 1 where the gain is exponential, else the relevance.
ir::ValueId gain_of(MeasureContext& c, ir::ValueId relevance);
// f64[documents]: 1 / log2(place + 1), places counted from 1; 0 behind place k.
ir::ValueId discounts(MeasureContext& c, int64_t documents);

std::vector<MetricState> states_of_documents(MeasureContext& c);
ir::Values next_documents(MeasureContext& c, const ir::Values& old);
ir::ValueId finish_documents(MeasureContext& c);  // `in` are the states

}  // namespace heddle::frontend
