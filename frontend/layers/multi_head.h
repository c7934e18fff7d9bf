// Multi-head attention with its projections. Names and shapes of parameters are those of torch.nn.MultiheadAttention.
#pragma once
#include "frontend/layers/attention_parts.h"

namespace heddle::frontend {

struct MultiHead {
  std::string prefix;  // prefix of the names of parameters: "self_attn."
  bool bias = true;
  AttentionSettings attention;
  AttentionInputs inputs;
};
// q [N,T,E], k [N,S,..], v [N,S,..] -> [N,T,E]. If k and v are as wide as q, in_proj_weight [3E,E] holds the weights of
// all three; otherwise they are q_proj_weight, k_proj_weight and v_proj_weight.
ir::ValueId multi_head(LayerContext& c, ir::ValueId q, ir::ValueId k, ir::ValueId v, const MultiHead& settings);

// x weight^T + bias over the last axis of [N,T,features]. `bias` is invalid if there is none.
ir::ValueId project(LayerContext& c, ir::ValueId x, ir::ValueId weight, ir::ValueId bias, const std::string& suffix);

// Checks that the input is a sequence [N,T,features] of f32.
void require_sequence(LayerContext& c, size_t input);

}  // namespace heddle::frontend
