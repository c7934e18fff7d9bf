// Builds the graph of a decoding step from its needs. It computes the next token, or several tokens, of each row, and
// reads and updates the states.
//
//   {%logits by node, %attn by record, %h by turn ...}
//     -> graph @decode(input %tokens: i32[2,1], input %position: i32[2], ...) {...}
//        graph @prefill(input %tokens: i32[2,16], input %position: i32[2], input %count: i32[2], ...) {...}
//
// With several tokens per step, only the first `count` of a row are valid. If `count` is 0, the states of the row stay
// unchanged.
#pragma once
#include <utility>
#include <vector>

#include "passes/decode/needs.h"

namespace heddle::passes {

struct StepGraph {
  // A value for the axis of a state's rows: the rows are the outermost part of the first axis.
  static constexpr int64_t kOutermost = -1;

  ir::Graph graph;
  std::vector<ir::Graph> bodies;                        // the bodies of its scans
  std::vector<std::pair<ir::ValueId, int64_t>> states;  // each state, and the axis of its rows
};

// The graph of a step over `tokens` tokens per row: @decode for 1, otherwise @prefill.
StepGraph step_graph(const Needs& needs, int64_t tokens);

}  // namespace heddle::passes
