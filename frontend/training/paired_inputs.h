// Inputs that a map makes in pairs, such as tokens with some hidden and what those were.
//
//   "tokens": [{"op": "mask_tokens", "targets": "hidden", ...}]  ->  'hidden' has tokens' shape, and each reader makes
//                                                                    both of one text
#pragma once
#include "frontend/training/training_plan.h"

namespace heddle::frontend {

// The inputs of a pair have one shape and one source.
void check_pairs(const TrainingPlan& plan, Diagnostics& errors);
// Ids that a map writes are inside of what finds elements by them. The inputs' bounds are known.
void check_written_ids(const TrainingPlan& plan, Diagnostics& errors);

}  // namespace heddle::frontend
