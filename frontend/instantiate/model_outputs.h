// The outputs of a model: checks that each one is computed and differs from the others, and renames the values.
//
//   "outputs": {"probabilities": "p"}  ->  return %probabilities, which was %p
#pragma once
#include "frontend/instantiate/instantiate.h"
#include "frontend/model.h"

namespace heddle::frontend {

// Throws UserError if an output is an input or a parameter itself, is the same value as another output, or has the name
// of a parameter.
void require_outputs(const Instance& e, const Model& model);

// The suffix of a value whose name an output takes. If an autoencoder has an output "image", its input "image" becomes
// "image.value".
inline constexpr const char* kNameTaken = ".value";

// Adds the outputs to the graph, under the names in `outputs`. Another value with such a name is renamed with the
// suffix kNameTaken. Throws UserError like `require_outputs`.
void add_outputs(Instance& e, const Model& model);

}  // namespace heddle::frontend
