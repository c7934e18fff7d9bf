// Whether a file of weights fits a model: names, shapes, values, and rows that the model reads as zeros.
//
//   require_weights(file, plan, program)   ->   "" or a note, where the file is not refused
#pragma once
#include <string>

#include "codegen/program.h"
#include "frontend/training/training_plan.h"
#include "runtime/weights/safetensors.h"

namespace heddle::driver {

std::string require_weights(const runtime::WeightsFile& file, const frontend::TrainingPlan& plan,
                            const codegen::Program& program);

}  // namespace heddle::driver
