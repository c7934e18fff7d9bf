// Mixed precision: the types of an operator's operands and results in a 16-bit training. An operator's kind gives a
// default rule; a statement in the operator's file overrides it:
//
//   const StatesMixedPrecision exp_like({"exp", "log"}, MixedRule::wide);
//
// passes/mixed_precision.h applies the rules, and `heddle ops` prints them. A rule is that of PyTorch's autocast unless
// `departs` says otherwise (pytorch.org, "CUDA ops that can autocast").
#pragma once
#include <string>
#include <vector>

#include "ir/op_def.h"

namespace heddle::ir {

enum class MixedRule {
  narrow,    // 16-bit operands and result, sums in f32: products with precision = "mixed_bf16"
  follows,   // 16 bits if one of its floating operands has 16 bits; each element is computed in f32
  wide,      // f32 operands and results
  restores,  // computes in f32, and also gives its first result in the type of its first operand
  fixed,     // its attributes determine the types, or it has no floating values
};

struct MixedPrecision {
  MixedRule rule = MixedRule::fixed;
  std::string departs = {};  // what PyTorch's autocast does instead; empty: the same
};

struct StatesMixedPrecision {
  StatesMixedPrecision(const std::vector<std::string>& ops, MixedRule rule, const std::string& departs = {});
};

const MixedPrecision& mixed_precision(const OpDef& op);
std::vector<std::string> stated_mixed_precisions();  // names of the operators with a statement
// "narrow: 16-bit operands and result, sums in f32"
std::string to_string(MixedRule rule);

}  // namespace heddle::ir
