// The graph of a step, of what it needs: the next token of each row, with the states that it reads and renews.
//
//   {%logits by node, %attn by record, %h by turn ...}   ->   graph @decode(input %tokens: i32[2,1], ...) {...}
#pragma once
#include <utility>
#include <vector>

#include "passes/decode/needs.h"

namespace heddle::passes {

struct StepGraph {
  // An axis of a state's rows: kOutermost, where rows are the outermost part of the first axis.
  static constexpr int64_t kOutermost = -1;

  ir::Graph graph;
  std::vector<std::pair<ir::ValueId, int64_t>> states;  // and the axes of their rows
};

StepGraph step_graph(const Needs& needs);
// What a step needs of the source, once: graph @encode(input %source: i32[2,9], ...) renews the states that keep it.
ir::Graph encode_graph(const Needs& needs);
// Each row's states become those of the row from[row].
ir::Graph reorder_graph(const StepGraph& step, int64_t rows);

}  // namespace heddle::passes
