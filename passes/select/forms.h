// Time estimates for a composite in one of its forms. Products and primitives are estimated one by one. All operators
// between them count as one kernel per product, which reads its operands and writes its results once.
//
//   decomposed into 2 products and a softmax   ->   time of both, and of reading the scores and writing the weights
#pragma once
#include "passes/select/offer.h"

namespace heddle::passes {

// A decomposition with a larger intermediate result is refused if another form avoids it, even if it would be faster.
inline constexpr int64_t kMostBetweenParts = int64_t{256} << 20;
// Why a composite that has other forms must not be decomposed: "a product in it takes 3.22 GB", or "".
std::string refusal_of_parts(const ir::Graph& g, ir::NodeId composite);

// The predicted time of the composite, which `kernel` holds alone, when `parts` decomposes it.
Figure figure_of_form(const ir::Graph& kernel, const Decomposition& parts, const Options& options);

}  // namespace heddle::passes
