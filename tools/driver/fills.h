// Stores the fills for missing values (means or medians of the training rows) in the metadata of a weights file, and
// reads them.
//
//   {inputs x, y; fills {2.5, 10}, {}} -> metadata {"heddle.missing.x": "[2.5,10]"}, and back
#pragma once
#include <map>
#include <string>
#include <vector>

#include "frontend/training/training_plan.h"
#include "runtime/weights/safetensors.h"

namespace heddle::driver {

// A list for each of the plan's inputs; empty where its fills do not come from the training rows.
using Fills = std::vector<std::vector<double>>;

std::map<std::string, std::string> fill_metadata(const frontend::TrainingPlan& plan, const Fills& fills);
// Empty lists where the file has none. Throws UserError where the text is not a list of numbers.
Fills fills(const frontend::TrainingPlan& plan, const runtime::WeightsFile& weights);

// The fills of `first`; for inputs that have none there, those of `second`.
Fills either(const Fills& first, const Fills& second);

}  // namespace heddle::driver
