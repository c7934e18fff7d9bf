// Random graphs over the operator registry: training steps in miniature, with what the passes look for mixed in.
//
// Values stay where rounding cannot decide between two results: operators that jump (floor, equality) see inputs only,
// operators with a limited domain see operands clamped to the range of their samples.
#pragma once
#include <cstdint>
#include <string>

#include "ir/evaluate/evaluate.h"

namespace heddle::testing {

struct RandomGraphOptions {
  int nodes = 24;
  bool gradients = true;  // a loss, gradients of all parameters and an optimizer's updates
  bool smooth = false;    // only operators with continuous derivatives, and a loss as the first output
  bool narrow = true;     // casts to other floating types
};

// A graph named `name`, and with updates another, `name`.init, that sets the parameters. Inputs and states are named
// after the graph, so that several share a module.
void add_random_graph(ir::Module& m, const std::string& name, uint32_t seed, const RandomGraphOptions& options);

// A value for every input and state of all graphs.
ir::NamedTensors random_inputs(const ir::Module& m, uint32_t seed);

// How far apart two values are, relative to the largest magnitude of the first (at least 1); equal nans and infinities
// do not differ.
double difference(const ir::Tensor& expected, const ir::Tensor& got);

}  // namespace heddle::testing
