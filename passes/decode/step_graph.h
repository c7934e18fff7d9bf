// The graph of a step, of what it needs: the next token of each row, or several of them, with the states that it reads
// and renews.
//
//   {%logits by node, %attn by record, %h by turn ...}
//     -> graph @decode(input %tokens: i32[2,1], input %position: i32[2], ...) {...}
//        graph @prefill(input %tokens: i32[2,16], input %position: i32[2], input %count: i32[2], ...) {...}
//
// Of several tokens a row has the first `count`, which may be none: nothing of its states changes then.
#pragma once
#include <utility>
#include <vector>

#include "passes/decode/needs.h"

namespace heddle::passes {

struct StepGraph {
  // An axis of a state's rows: kOutermost, where rows are the outermost part of the first axis.
  static constexpr int64_t kOutermost = -1;

  ir::Graph graph;
  std::vector<ir::Graph> bodies;                        // of its scans
  std::vector<std::pair<ir::ValueId, int64_t>> states;  // and the axes of their rows
};

StepGraph step_graph(const Needs& needs, int64_t tokens);

}  // namespace heddle::passes
