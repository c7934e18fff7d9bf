// Plans the buckets of a model: for each length of shorter rows, the inputs and the checks of indices.
//
//   "buckets": {"by": "size", "let": "length", "lengths": [8]} of an input name: [N,length]
//     -> PlannedBucket {length = 8, inputs = {name: i32[8], size: i32[]}}
#pragma once
#include "frontend/training/training_plan.h"

namespace heddle::frontend {

// `plan` is the plan of the model itself; its inputs must be known. Throws UserError if rows cannot be cut, or if a
// shorter model has a fault, at the location of the buckets or of the fault.
std::vector<PlannedBucket> plan_buckets(ModelInstances& instances, const TrainingPlan& plan);

}  // namespace heddle::frontend
