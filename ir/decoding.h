// Decoding: how an operator that reads along the sequence computes a few next tokens, with a cache of earlier tokens.
//
//   attention(%q, %k, %v) of all tokens, q: f32[2,64,128]
//     -> of one token, q: f32[2,1,128]: k and v are put into caches, states of 64 tokens, and q reads these
//
// An operator that mixes tokens needs such a record (OpDef::decoding) to be decoded. An operator whose result for a
// token depends on that token alone needs none.
#pragma once
#include <functional>
#include <string>

#include "ir/builder.h"

namespace heddle::ir {

// The graph of a decoding step, to which Decoding::build adds nodes.
struct DecodeStep {
  Builder& b;
  int64_t tokens = 1;  // tokens of a row in one step, at most
  ValueId places;      // i32 [rows,tokens]: the position of each token in its text, counted from 0
  ValueId count;       // i32 [rows]: the number of tokens that a row has in this step; invalid: one each
  // Adds a state. Its elements lie row after row.
  std::function<ValueId(const std::string& name, const Type&)> state;
  std::function<void(ValueId state, ValueId next)> update;
};

// Why an operator cannot be decoded, and a remedy.
struct DecodeRefusal {
  std::string reason, help;  // "is not causal: a token sees those behind it"; an empty reason: it can be decoded
};

struct Decoding {
  size_t sequences = 0;  // the first operands, this many, are sequences of the text
  bool bounded = false;  // the cache has room only for as many tokens as the text of the original graph
  // The axis of the tokens in an operand; -1: the operand has none. In a further operand that axis may have size 1.
  std::function<int64_t(const Signature&, size_t operand)> tokens_axis;
  std::function<DecodeRefusal(const Signature&)> refusal;
  // Builds the step of a node and returns what replaces its first result. `n` is the node on all tokens, `name` the
  // name of its first result. Operands and the returned value have the tokens of the step alone: [rows, 1, ...] instead
  // of [rows, 64, ...]. A further operand with tokens and no rows gets the rows in front: [rows, 1, 8, 1, 64] instead
  // of [1, 8, 64, 64]. Tokens beyond a row's `count` must leave the row's states unchanged.
  std::function<ValueId(DecodeStep&, const Signature& n, const std::string& name, const Values& operands)> build;
};

}  // namespace heddle::ir
