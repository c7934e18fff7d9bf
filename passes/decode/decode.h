// Decode: turns a graph that computes all tokens of a text at once into a graph that computes the next token.
//
//   graph @predict(input %tokens: i32[2,64], param %wte: f32[65,32], ...) {
//     %x: f32[2,64,32] = gather(%wte, %tokens)
//     ...
//     %attn: f32[2,64,32], ... = attention(%q, %k, %v) {causal = true, heads = 4}
//     ...
//     return %logits                                               f32[2,64,65]
//   }
//   ->
//   graph @decode(input %tokens: i32[2,1], input %position: i32[2], param %wte: f32[65,32], ...,
//                 state %attn.keys: f32[512,8], ...) {
//     %x: f32[2,1,32] = gather(%wte, %tokens)
//     ...                                                          one token of each row
//     update %attn.keys <- %attn.keys.next
//     return %logits                                               f32[2,1,65]
//   }
//
// Each row has its own position. A row with position 0 starts a new text.
//
// | of the forward graph | in the graph of a step |
// |---|---|
// | operators whose elements read the same row and token (axis_roles.h) | themselves, of one token |
// | what has a record of decoding (ir/decoding.h) | what the record says, with a cache |
// | a scan over the tokens | its body, once; its carries are states |
// | what depends on the position alone: tables, rotations | its part at the position |
// | what depends on another input, a source: an encoder, the keys of cross attention | a state that @encode makes |
//
// Any other operator is refused at its node.
#pragma once
#include <optional>
#include <vector>

#include "ir/graph.h"

namespace heddle::passes {

struct Decoded {
  ir::Graph graph;
  // graph @prefill(input %tokens: i32[rows,chunk], input %position: i32[rows], input %count: i32[rows], ...): updates
  // the states of `graph` for the first `count` tokens of each row. The first one has the position `position`. nullopt
  // if there are no states.
  std::optional<ir::Graph> prefill = {};
  std::vector<ir::Graph> bodies = {};  // the bodies of prefill's scans
  // graph @encode(input %source: i32[rows,9], ...): computes the states of `graph` that depend on the source alone.
  std::optional<ir::Graph> encode = {};
  // graph @reorder(input %from: i32[rows], every other state of `graph`): gives each row the states of the row
  // from[row]. nullopt if there are no states.
  std::optional<ir::Graph> reorder = {};
  // The token that the model itself puts in front of the text (shifted_text.h). The text starts with it.
  std::optional<int64_t> first = {};
  // The limit of positions, from the size of a cache or a table; 0: no limit.
  int64_t context = 0;
};

// `forward` is a graph of `m`. Its input `text` holds integers [rows, tokens], both sizes at least 2. Its result number
// `result` is [rows, tokens, ...]. Other inputs are sources, [rows, ...], which are known before the text. `chunk` is
// the number of tokens per row that @prefill takes at once; 1: no @prefill. Throws UserError at the first node that
// reads other tokens in an unknown way.
Decoded decode(const ir::Module& m, const ir::Graph& forward, size_t result, ir::ValueId text, int64_t chunk = 1);

}  // namespace heddle::passes
