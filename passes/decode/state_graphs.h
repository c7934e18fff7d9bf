// The graphs besides the step graph that update its states: @encode and @reorder.
//
//   graph @encode(input %source: i32[2,9], ..., state %memory.kept: f32[2,9,64]) {... update %memory.kept <- %memory}
//   graph @reorder(input %from: i32[2], state %attn.keys: f32[512,8], ...) {... update %attn.keys <- %attn.keys.next}
#pragma once
#include <string>

#include "passes/decode/step_graph.h"

namespace heddle::passes {

// The name of the state that keeps a value.
std::string kept_name(const ir::Graph& forward, ir::ValueId v);
// The graph that computes all values of the source that a step needs, and keeps them in states.
ir::Graph encode_graph(const Needs& needs);
// The graph that gives each row the states of the row from[row].
ir::Graph reorder_graph(const StepGraph& step, int64_t rows);

}  // namespace heddle::passes
