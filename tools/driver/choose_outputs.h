// Chooses which outputs a prediction computes.
//
//   model without "outputs", loss cross_entropy of logits and label   ->   outputs {"logits": "logits"}
#pragma once
#include <string>
#include <vector>

#include "frontend/model.h"

namespace heddle::driver {

// Sets the model's outputs to these outputs or nodes. Empty: keeps the model's outputs; where it has none, takes the
// first value that its loss reads. Throws UserError where there is no such output.
void choose_outputs(frontend::Model& model, const std::vector<std::string>& names);

}  // namespace heddle::driver
