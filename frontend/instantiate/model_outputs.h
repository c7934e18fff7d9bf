// What a model's "outputs" name: each is computed, and is another value than those before it.
//
//   "outputs": {"probabilities": "p"}  ->  return %probabilities, which was %p
#pragma once
#include "frontend/instantiate/instantiate.h"
#include "frontend/model.h"

namespace heddle::frontend {

// Throws UserError where an output is an input or a parameter itself, one of the others, or has the
// name of a parameter.
void require_outputs(const Instance& e, const Model& model);

// What a value's name ends with after an output took the name: an autoencoder's output "image"
// leaves its input "image.value".
inline constexpr const char* kNameTaken = ".value";

// Results carry the names of `outputs`. A value that already has one of them is renamed, with kNameTaken at its end.
// Throws as `require_outputs`.
void add_outputs(Instance& e, const Model& model);

}  // namespace heddle::frontend
