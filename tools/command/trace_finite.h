// What made the first number that is not finite: a step evaluated by the operators' oracles, and the way back from what
// such a number has reached.
//
//   %a: f32[4] = log(%x)             x[2] is 0: -inf, which %b does not take
//   %b: f32[4] = select(%c, %a, %x)
//   %d: f32[4] = exp(%b)             b[1] is 90
//   %loss: f32[] = sum(%d)           inf
//     -> {.node = exp, .element = 1, .value = inf, .operands = {90}}
//
// The way back goes by elements, along index maps: what masks hide is not met, as the -inf of a softmax or of log(0) that
// is selected away. A constant that is infinite is meant to be so: then the first operator is named that made nan of it.
#pragma once
#include <functional>
#include <optional>
#include <vector>

#include "ir/evaluate/evaluate.h"

namespace heddle::tools {

// Where in loops: the scan's place in its graph's order, and the turn that is evaluated (its row of slices).
struct TurnAt {
  size_t place = 0;
  int64_t row = 0;
};
struct Origin {
  const ir::Graph* graph = nullptr;
  const ir::Node* node = nullptr;  // nullptr: `result` is an input of the graph
  ir::ValueId result;
  int64_t element = 0;
  double value = 0;                // of it, not finite
  std::vector<double> operands;    // of an elementwise operator, those of the element
  double largest = 0;              // of another one, the largest magnitude among its operands
  std::vector<TurnAt> turns = {};  // outermost first
};

// Of the values `targets` of the graph, evaluated from `inputs`. Nothing where all are finite. `inputs`: all of the
// graph's.
std::optional<Origin> trace_not_finite(const ir::Module& m, const ir::Graph& g, const ir::NamedTensors& inputs,
                                       const std::vector<std::vector<ir::ValueId>>& targets);

}  // namespace heddle::tools
