// What tests of drawn graphs and of drawn scans check alike.
#pragma once
#include "ir/evaluate/evaluate.h"

namespace heddle::testing {

void expect_well_formed(const ir::Module& m);

// The graph's first output is a loss, its outputs from `first_gradient` on are the gradients of its
// parameters in their order. Along `direction` the loss rises as they say: central differences with
// steps of 1e-6 and 2e-6, extrapolated, within `tolerance` of the slope, or of 1 where that is less.
void expect_slope(const ir::Module& m, const ir::Graph& g, const ir::NamedTensors& inputs,
                  const ir::NamedTensors& direction, size_t first_gradient, double tolerance);

}  // namespace heddle::testing
