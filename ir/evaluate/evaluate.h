// The evaluator: runs a graph in double precision (floating) and 64-bit integers, operator by operator, from each
// operator's oracle.
#pragma once
#include <map>
#include <string>

#include "ir/evaluate/tensor.h"
#include "ir/graph.h"

namespace heddle::ir {

enum class Precision {
  exact,    // floating values stay doubles; compares a module before and after a pass
  rounded,  // every result is rounded to its dtype; the oracle of the kernels
};

struct EvaluateOptions {
  Precision precision = Precision::exact;
  // Run through the planned arena: results are stored at their places, dead bytes are poisoned with NaN, so that a
  // wrong plan shows as a wrong number.
  bool through_arena = false;
};

using NamedTensors = std::map<std::string, Tensor>;

struct Evaluation {
  std::vector<Tensor> outputs;  // as `return` lists them
  NamedTensors updated;         // the next value of each updated state
};

// `inputs` by name, one for each input, param and state. Calls are evaluated by their kernels' bodies.
Evaluation evaluate(const Module& m, const Graph& g, const NamedTensors& inputs, const EvaluateOptions& options = {});

// Moves states into and out of the flat states of m.groups, so that evaluations before and after `flatten` can be
// compared.
NamedTensors flatten_states(const Module& m, NamedTensors states);
NamedTensors unflatten_states(const Module& m, NamedTensors states);

}  // namespace heddle::ir
