// Finds the operator that made the first nan or infinity of a step: the oracles evaluate the step, and the search goes
// back from a result that is not finite.
//
//   %a: f32[4] = log(%x)             x[2] is 0: -inf, which %b does not take
//   %b: f32[4] = select(%c, %a, %x)
//   %d: f32[4] = exp(%b)             b[1] is 90
//   %loss: f32[] = sum(%d)           inf
//     -> {.node = exp, .element = 1, .value = inf, .operands = {90}}
//
// The search follows single elements along index maps. So it does not reach values that a mask hides, such as the -inf
// of a masked softmax or a log(0) that select discards. An infinite constant is intended; then the search names the
// first operator that made nan of it.
#pragma once
#include <functional>
#include <optional>
#include <vector>

#include "ir/evaluate/evaluate.h"

namespace heddle::tools {

// A turn of a scan: the scan's place in its graph's order, and the number of the turn (its row of slices).
struct TurnAt {
  size_t place = 0;
  int64_t row = 0;
};
struct Origin {
  const ir::Graph* graph = nullptr;
  const ir::Node* node = nullptr;  // nullptr: `result` is an input of the graph
  ir::ValueId result;
  int64_t element = 0;
  double value = 0;                // the element's value: nan or infinite
  std::vector<double> operands;    // of an elementwise operator: the operands of this element
  double largest = 0;              // of another operator: the largest magnitude among its operands
  std::vector<TurnAt> turns = {};  // outermost first
};

// Searches the values `targets` of the graph, evaluated from `inputs`, which must hold all of the graph's inputs.
// Returns nothing where all are finite.
std::optional<Origin> trace_not_finite(const ir::Module& m, const ir::Graph& g, const ir::NamedTensors& inputs,
                                       const std::vector<std::vector<ir::ValueId>>& targets);

}  // namespace heddle::tools
