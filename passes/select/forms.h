// What a composite is predicted to take in one of its forms: its products and primitives each, and what lies between
// them as if it moved what it reads and writes once.
//
//   decomposed into 2 products and a softmax   ->   time of both, and of reading the scores and writing the weights
#pragma once
#include "passes/select/offer.h"

namespace heddle::passes {

// `kernel` holds the composite alone.
Figure figure_of_form(const ir::Graph& kernel, const Decomposition& parts, const Options& options);

}  // namespace heddle::passes
