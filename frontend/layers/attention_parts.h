// Parts of layers with attention: the inputs and settings that restrict what a query sees, and the operator.
//
//   {"op": "attention", "in": {"q": "q", "k": "k", "v": "v", "lengths": "size"}, "heads": 4, "causal": true}
//     -> attention(%q, %k, %v, %size) {heads = 4, causal = true, lengths = true}
#pragma once
#include "frontend/layer_context.h"

namespace heddle::frontend {

// The numbers of a layer's inputs besides q, k and v. Inputs that a node leaves out are not used.
struct AttentionInputs {
  size_t bias = 0, lengths = 0, key_mask = 0, documents = 0;  // 0: the layer has no such input
};
struct AttentionSettings {
  int64_t heads = 1, kv_heads = 1;
  bool causal = false, alibi = false;
  int64_t window = 0;
  double scale = 0, soft_cap = 0, dropout = 0;
  std::string suffix;  // appended to the path to derive the stream of random numbers
};

// q [N,T,heads*d], k [N,S,kv_heads*d], v [N,S,kv_heads*e] -> [N,T,heads*e]. The sizes of q, k and v must fit; the other
// inputs are checked.
ir::ValueId attend(LayerContext& c, ir::ValueId q, ir::ValueId k, ir::ValueId v, const AttentionSettings& settings,
                   const AttentionInputs& inputs);

// The keys that layers with attention share.
std::vector<Key> attention_settings(bool scores);  // `scores`: also kv_heads, and the keys that change scores
AttentionSettings read_attention(LayerContext& c, bool scores);

// Checks that the setting "heads" divides `width`, the size of the last axis. `what` names the value in the message.
void require_heads(LayerContext& c, int64_t heads, int64_t width, const std::string& what, size_t input = 0);

}  // namespace heddle::frontend
