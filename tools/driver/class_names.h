// The names of classes in a weights file: what the numbers mean that a model was trained with.
//
//   {inputs x, y; names {}, {"ant", "bee"}} -> metadata {"heddle.classes.y": "[\"ant\",\"bee\"]"}, and back
#pragma once
#include <map>
#include <string>
#include <vector>

#include "frontend/training/training_plan.h"
#include "runtime/weights/safetensors.h"

namespace heddle::driver {

// Of each of the plan's inputs; empty where its values have no names.
using ClassNames = std::vector<std::vector<std::string>>;

std::map<std::string, std::string> class_metadata(const frontend::TrainingPlan& plan, const ClassNames& names);
// None where the file holds none. UserError where its text is no list of names.
ClassNames class_names(const frontend::TrainingPlan& plan, const runtime::WeightsFile& weights);

}  // namespace heddle::driver
