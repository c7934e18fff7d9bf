// Decoding: how an operator that reads along time goes on by one token or some, with a cache of those before.
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

// Where tokens are decoded: the graph that the record adds to.
struct DecodeStep {
  Builder& b;
  int64_t tokens = 1;  // that each row has room for
  ValueId places;      // i32 [rows,tokens]: which token of its text each is, counted from 0
  ValueId count;       // i32 [rows]: how many of them a row has; invalid where it is the one
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
  bool bounded = false;  // there are no places behind those of the text that it was made of
  // Of an operand, the axis of the tokens, which may have a single place in a further one; -1: it has none.
  std::function<int64_t(const Signature&, size_t operand)> tokens_axis;
  std::function<DecodeRefusal(const Signature&)> refusal;
  // `n` is the node of all tokens, `name` that of its first result. Operands and the result, the first one of `n`, are
  // those of the step's tokens: [rows, 1, ...] in the place of [rows, 64, ...]. A further operand that has tokens and no
  // rows has the rows in front: [rows, 1, 8, 1, 64] in the place of [1, 8, 64, 64]. What a row does not have leaves no trace
  // in its states.
  std::function<ValueId(DecodeStep&, const Signature& n, const std::string& name, const Values& operands)> build;
};

}  // namespace heddle::ir
