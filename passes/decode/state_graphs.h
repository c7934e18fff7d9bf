// The graphs beside that of a step, which renew its states.
//
//   graph @encode(input %source: i32[2,9], ..., state %memory.kept: f32[2,9,64]) {... update %memory.kept <- %memory}
//   graph @reorder(input %from: i32[2], state %attn.keys: f32[512,8], ...) {... update %attn.keys <- %attn.keys.next}
#pragma once
#include <string>

#include "passes/decode/step_graph.h"

namespace heddle::passes {

// Of the state that keeps a value.
std::string kept_name(const ir::Graph& forward, ir::ValueId v);
// What a step needs of the source, once.
ir::Graph encode_graph(const Needs& needs);
// Each row's states become those of the row from[row].
ir::Graph reorder_graph(const StepGraph& step, int64_t rows);

}  // namespace heddle::passes
