// Which outputs a prediction computes.
//
//   model without "outputs", loss cross_entropy of logits and label   ->   outputs {"logits": "logits"}
#pragma once
#include <string>
#include <vector>

#include "frontend/model.h"

namespace heddle::driver {

// Leaves the model with the outputs of these names, or nodes; none: its outputs, or what its loss reads first. Throws
// UserError where there is none.
void choose_outputs(frontend::Model& model, const std::vector<std::string>& names);

}  // namespace heddle::driver
