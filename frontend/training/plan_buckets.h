// What running a model with buckets needs to know of each length of shorter rows.
//
//   "buckets": {"by": "size", "let": "length", "lengths": [8]} of an input name: [N,length]
//     -> PlannedBucket {length = 8, inputs = {name: i32[8], size: i32[]}}
#pragma once
#include "frontend/training/training_plan.h"

namespace heddle::frontend {

// Of the model's own plan, whose inputs are known. Throws UserError where rows cannot be cut, or a shorter model has a
// fault, at the place of the buckets or of the fault.
std::vector<PlannedBucket> plan_buckets(ModelInstances& instances, const TrainingPlan& plan);

}  // namespace heddle::frontend
