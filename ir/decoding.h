// Decoding: how an operator that reads along time goes on by one token, with a cache of the tokens before.
//
//   attention(%q, %k, %v) of all tokens, q: f32[2,64,128]
//     -> of one token, q: f32[2,1,128]: k and v are put into caches, states of 64 tokens, and q reads these
//
// An operator's definition holds it (OpDef::decoding). What has none, and is no operator of single tokens, cannot be
// decoded.
#pragma once
#include <functional>
#include <string>

#include "ir/builder.h"

namespace heddle::ir {

// Where a token is decoded: the graph that the record adds to.
struct DecodeStep {
  Builder& b;
  ValueId position;  // i32 [rows]: which token of its text each row has, counted from 0
  // Adds one, whose elements are those of the first row, then those of the second one, and so on.
  std::function<ValueId(const std::string& name, const Type&)> state;
  std::function<void(ValueId state, ValueId next)> update;
};

// Why not, and what may help.
struct DecodeRefusal {
  std::string reason, help;  // "is not causal: a token sees those behind it"; an empty reason: it can
};

struct Decoding {
  size_t sequences = 0;  // so many operands, the first ones, are sequences of the text
  std::function<DecodeRefusal(const Signature&)> refusal;
  // `n` is the node of all tokens, `name` that of its first result. Operands and the result, the first one of `n`, are
  // [rows, 1, ...] in the place of [rows, tokens, ...].
  std::function<ValueId(DecodeStep&, const Signature& n, const std::string& name, const Values& operands)> build;
};

}  // namespace heddle::ir
