// What a composite is predicted to take in one of its forms: its products and primitives each, and what lies between
// them as if it moved what it reads and writes once.
//
//   decomposed into 2 products and a softmax   ->   time of both, and of reading the scores and writing the weights
#pragma once
#include "passes/select/offer.h"

namespace heddle::passes {

// A time that is predicted to be shorter is not worth more memory than this where another form does without it.
inline constexpr int64_t kMostBetweenParts = int64_t{256} << 20;
// Why a composite with other forms is not decomposed: "a product in it takes 3.22 GB", or "".
std::string refusal_of_parts(const ir::Graph& g, ir::NodeId composite);

// `kernel` holds the composite alone.
Figure figure_of_form(const ir::Graph& kernel, const Decomposition& parts, const Options& options);

}  // namespace heddle::passes
