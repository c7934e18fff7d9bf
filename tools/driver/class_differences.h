// Gives a note where validation rows have classes that training rows lack, or the reverse, as happens with the last
// rows of a file that is sorted by class.
//
//   "validation": {"fraction": 0.1}, labels 0 0 0 .. 9 9 9
//     -> note: class 9 of 'label' is that of 100 of 100 validation rows, and of no training row ...
#pragma once
#include "frontend/training/training_plan.h"
#include "tools/driver/load_data.h"
#include "tools/driver/tell.h"

namespace heddle::driver {

// Checks inputs that a loss or a metric reads as classes. Differences that a random split could have made are not
// reported.
void note_class_differences(const frontend::TrainingPlan& plan, const Splits& splits, const Tell& note);

}  // namespace heddle::driver
