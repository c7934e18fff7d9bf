// Mean and deviation of the training rows, where a map of the model waits for them: computed once,
// kept in the weights.
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
// Of the weights' metadata, for the maps that they have numbers for. UserError where their text is none.
void take_statistics(frontend::TrainingPlan& plan, const runtime::WeightsFile& weights);
// Of the rows, for the maps that still wait. UserError where a value is not finite.
void fit_statistics(frontend::TrainingPlan& plan, const runtime::data::Table& rows);
// Where no rows are read: a mean of 0 and a deviation of 1, which is told.
void assume_statistics(frontend::TrainingPlan& plan, const Tell& tell);
// Of the maps that took them; `model` is the plan as the model has it.
std::map<std::string, std::string> statistics_metadata(const frontend::TrainingPlan& model,
                                                       const frontend::TrainingPlan& fitted);

}  // namespace heddle::driver
