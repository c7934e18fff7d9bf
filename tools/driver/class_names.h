// Stores class names in the metadata of a weights file, and reads them. They give class numbers their meaning.
//
//   {inputs x, y; names {}, {"ant", "bee"}} -> metadata {"heddle.classes.y": "[\"ant\",\"bee\"]"}, and back
#pragma once
#include <map>
#include <string>
#include <vector>

#include "frontend/training/training_plan.h"
#include "runtime/weights/safetensors.h"

namespace heddle::driver {

// A list for each of the plan's inputs; empty where its values have no names.
using ClassNames = std::vector<std::vector<std::string>>;

std::map<std::string, std::string> class_metadata(const frontend::TrainingPlan& plan, const ClassNames& names);
// Empty lists where the file has none. Throws UserError where the text is not a list of names.
ClassNames class_names(const frontend::TrainingPlan& plan, const runtime::WeightsFile& weights);

}  // namespace heddle::driver
