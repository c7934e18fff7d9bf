// The evaluator: interprets a graph with the operators' oracles, in doubles and 64-bit integers.
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
  // Run through the planned arena: results are stored at their places, and dead bytes are poisoned. So a wrong plan
  // shows as a wrong number.
  bool through_arena = false;
};

using NamedTensors = std::map<std::string, Tensor>;

struct Evaluation {
  std::vector<Tensor> outputs;  // as `return` lists them
  NamedTensors updated;         // the next value of each updated state
};

// Evaluates g. `inputs` holds a tensor for each input of g, states included, by name. A call evaluates its kernel's
// graph.
Evaluation evaluate(const Module& m, const Graph& g, const NamedTensors& inputs, const EvaluateOptions& options = {});

// Moves states into (flatten_states) and out of the flat states of m.groups. Tests compare evaluations before and after
// `flatten` with them.
NamedTensors flatten_states(const Module& m, NamedTensors states);
NamedTensors unflatten_states(const Module& m, NamedTensors states);

}  // namespace heddle::ir
