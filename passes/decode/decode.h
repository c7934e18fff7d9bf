// Decode: from the graph that computes all tokens of a text at once, the graph that computes the next one.
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
// Each row stands at a position of its own, and begins anew where that is 0.
//
// | of the forward graph | in the graph of a step |
// |---|---|
// | operators whose elements read the same row and token (axis_roles.h) | themselves, of one token |
// | what has a record of decoding (ir/decoding.h) | what the record says, with a cache |
// | a scan over the tokens | its body, once; its carries are states |
// | what depends on the position alone: tables, rotations | its part at the position |
// | what depends on another input, a source: an encoder, the keys of cross attention | a state that @encode makes |
//
// All else is refused at its node.
#pragma once
#include <optional>
#include <vector>

#include "ir/graph.h"

namespace heddle::passes {

struct Decoded {
  ir::Graph graph;
  // graph @prefill(input %tokens: i32[rows,chunk], input %position: i32[rows], input %count: i32[rows], ...): the states
  // of `graph` behind the first `count` tokens, of which the first stands at `position`. Nothing where there are no
  // states.
  std::optional<ir::Graph> prefill = {};
  std::vector<ir::Graph> bodies = {};  // of its scans
  // graph @encode(input %source: i32[rows,9], ...): the states of `graph` that keep what is known of the source.
  std::optional<ir::Graph> encode = {};
  // graph @reorder(input %from: i32[rows], every other state of `graph`): each row has those of the row from[row].
  // Nothing where there are no states.
  std::optional<ir::Graph> reorder = {};
  // What the model itself puts in front of the text: the first token that is read.
  std::optional<int64_t> first = {};
  // Positions lie below this many tokens, where a cache or a table has an end; 0: there is none.
  int64_t context = 0;
};

// `forward` is a graph of `m`; its input `text` is integers [rows, tokens], both 2 or more, its result number `result`
// [rows, tokens, ...]. Other inputs are a source, [rows, ...], that is there before the text. Throws UserError at the
// first node that reads other tokens in a way that is not known.
// `chunk`: how many tokens of a row go through @prefill at once; 1: there is none.
Decoded decode(const ir::Module& m, const ir::Graph& forward, size_t result, ir::ValueId text, int64_t chunk = 1);

}  // namespace heddle::passes
