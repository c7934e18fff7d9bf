// Whether a file of weights fits a model: names, shapes, values, and rows that the model reads as zeros.
//
//   require_weights(file, plan, program, begins)   ->   "" or a note, where the file is not refused
#pragma once
#include <string>

#include "codegen/program.h"
#include "frontend/training/training_plan.h"
#include "runtime/weights/safetensors.h"

namespace heddle::driver {

// Where the model has a table of foreign names, the file's tensors become the model's. A node that copies the parameters
// of another one, and has no tensor in the file, gets those that it copies. Adapters (tools/driver/adapters.h) that the
// file holds beside their base get the model's names. `begins`: a training begins with them, and
// gives what the table allows to be missing its initial values.
std::string require_weights(runtime::WeightsFile& file, const frontend::TrainingPlan& plan,
                            const codegen::Program& program, bool begins);

}  // namespace heddle::driver
