// Checks of inputs that a data map makes in pairs, such as tokens of which some are hidden, and the hidden tokens.
//
//   "tokens": [{"op": "mask_tokens", "targets": "hidden", ...}]  ->  'hidden' has tokens' shape, and each reader makes
//                                                                    both of one text
#pragma once
#include "frontend/training/training_plan.h"

namespace heddle::frontend {

// Checks that the inputs of a pair have the same shape and the same source.
void check_pairs(const TrainingPlan& plan, Diagnostics& errors);
// Checks that the ids which a map writes are valid for all readers that use them as indices. The bounds of inputs must
// be known.
void check_written_ids(const TrainingPlan& plan, Diagnostics& errors);

}  // namespace heddle::frontend
