// Modules with scans of drawn bodies: carries of several types, slices, captured values, the index, contractions,
// composites, and scans inside of scans.
#pragma once
#include "ir/graph.h"

namespace heddle::testing {

struct RandomScanOptions {
  int order = 0;  // of derivatives: 1 adds the gradients by all floating inputs, 2 those of their squares' sum, too
};
// One graph @g, whose first output is the loss; then the values, then the gradients in the order of the inputs.
ir::Module random_scan(uint32_t seed, const RandomScanOptions& options);

}  // namespace heddle::testing
