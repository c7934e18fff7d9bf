// What layers with attention share: the inputs that say what a query sees, and the operator with them.
//
//   {"op": "attention", "in": {"q": "q", "k": "k", "v": "v", "lengths": "size"}, "heads": 4, "causal": true}
//     -> attention(%q, %k, %v, %size) {heads = 4, causal = true, lengths = true}
#pragma once
#include "frontend/layer_context.h"

namespace heddle::frontend {

// Inputs beside q, k and v, by the places where a layer has them; those that are not there are left out.
struct AttentionInputs {
  size_t bias = 0, lengths = 0, key_mask = 0, documents = 0;  // 0: the layer has none of it
};
struct AttentionSettings {
  int64_t heads = 1, kv_heads = 1;
  bool causal = false, alibi = false;
  int64_t window = 0;
  double scale = 0, soft_cap = 0, dropout = 0;
  std::string suffix;  // of the path, for the random numbers
};

// q [N,T,heads*d], k [N,S,kv_heads*d], v [N,S,kv_heads*e] -> [N,T,heads*e]. Sizes fit; the further inputs are checked.
ir::ValueId attend(LayerContext& c, ir::ValueId q, ir::ValueId k, ir::ValueId v, const AttentionSettings& settings,
                   const AttentionInputs& inputs);

// The keys that layers with attention have in common.
std::vector<Key> attention_settings(bool scores);  // `scores`: also those of the scores alone
AttentionSettings read_attention(LayerContext& c, bool scores);

// The setting "heads" divides `width`, the last axis of what it is cut from.
void require_heads(LayerContext& c, int64_t heads, int64_t width, const std::string& what, size_t input = 0);

}  // namespace heddle::frontend
