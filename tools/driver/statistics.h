// Computes the mean and the deviation of the training rows for maps that need them (normalize without numbers), and
// stores them in the weights' metadata.
//
//   "map": {"x": ["normalize"]}, rows {1, 10}, {3, 30}
//     -> numbers of the map {mean: {2, 20}, std: {1, 10}}; metadata {"heddle.normalize.x": "{\"mean\": [2,20], \"std\": [1,10]}"}
#pragma once
#include <map>
#include <string>

#include "frontend/training/training_plan.h"
#include "runtime/data/table.h"
#include "runtime/weights/safetensors.h"
#include "tools/driver/tell.h"

namespace heddle::driver {

bool waits_for_statistics(const frontend::TrainingPlan& plan);
// Takes numbers from the weights' metadata, for the maps that they name. Throws UserError where the text is malformed.
void take_statistics(frontend::TrainingPlan& plan, const runtime::WeightsFile& weights);
// Computes the numbers from the rows, for the maps that still need them. Throws UserError where a value is not finite.
void fit_statistics(frontend::TrainingPlan& plan, const runtime::data::Table& rows);
// Assumes a mean of 0 and a deviation of 1, where no rows are read. `tell` gets a note.
void assume_statistics(frontend::TrainingPlan& plan, const Tell& tell);
// The metadata for the maps that took numbers. `model`: the plan before it was completed.
std::map<std::string, std::string> statistics_metadata(const frontend::TrainingPlan& model,
                                                       const frontend::TrainingPlan& fitted);

}  // namespace heddle::driver
