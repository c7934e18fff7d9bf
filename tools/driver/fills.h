// What stands for missing values, in a weights file: means or medians of the rows that a model was trained with.
//
//   {inputs x, y; fills {2.5, 10}, {}} -> metadata {"heddle.missing.x": "[2.5,10]"}, and back
#pragma once
#include <map>
#include <string>
#include <vector>

#include "frontend/training/training_plan.h"
#include "runtime/weights/safetensors.h"

namespace heddle::driver {

// Of each of the plan's inputs; empty where the training rows do not say.
using Fills = std::vector<std::vector<double>>;

std::map<std::string, std::string> fill_metadata(const frontend::TrainingPlan& plan, const Fills& fills);
// None where the file holds none. UserError where its text is no list of numbers.
Fills fills(const frontend::TrainingPlan& plan, const runtime::WeightsFile& weights);

// What `first` has, and of the inputs that it says nothing of what `second` has.
Fills either(const Fills& first, const Fills& second);

}  // namespace heddle::driver
