// Checks that a weights file fits a model (names, shapes, values, and padding rows that must be zero), and adapts the
// file to the model.
//
//   require_weights(file, plan, program, begins)   ->   "" or a note, where the file is not refused
#pragma once
#include <string>

#include "codegen/program.h"
#include "frontend/training/training_plan.h"
#include "runtime/weights/safetensors.h"

namespace heddle::driver {

// Where the model has a table of foreign names, renames the file's tensors. A node that copies the parameters of
// another node, and has no tensors in the file, gets copies of that node's tensors. Adapters (tools/driver/adapters.h)
// in the file get the model's names. `begins`: a training begins with the weights; parameters that may be missing then
// take their initial values. Returns a note, or "". Throws UserError where the file does not fit.
std::string require_weights(runtime::WeightsFile& file, const frontend::TrainingPlan& plan,
                            const codegen::Program& program, bool begins);

}  // namespace heddle::driver
