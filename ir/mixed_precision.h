// Mixed precision: in which type an operator computes where a training is of 16 bits, and what it leaves. A statement of
// the operator's own file, where its kind does not say it already:
//
//   const StatesMixedPrecision exp_like({"exp", "log"}, MixedRule::wide);
//
// passes/mixed_precision.h asks, and `heddle ops` prints it. The rules are those of PyTorch's autocast where `departs` is
// empty (pytorch.org, "CUDA ops that can autocast").
#pragma once
#include <string>
#include <vector>

#include "ir/op_def.h"

namespace heddle::ir {

enum class MixedRule {
  narrow,    // operands of 16 bits, sums in f32, the result of 16 bits: products that say precision = "mixed_bf16"
  follows,   // of 16 bits where one of its floating operands is; each element is computed in f32
  wide,      // operands and results of f32
  restores,  // computes in f32, and leaves its first result with the bits of its first operand
  fixed,     // what its attributes say, or no numbers at all
};

struct MixedPrecision {
  MixedRule rule = MixedRule::fixed;
  std::string departs = {};  // what PyTorch's autocast does in its place; empty: the same
};

struct StatesMixedPrecision {
  StatesMixedPrecision(const std::vector<std::string>& ops, MixedRule rule, const std::string& departs = {});
};

const MixedPrecision& mixed_precision(const OpDef& op);
std::vector<std::string> stated_mixed_precisions();  // names of operators
// "narrow: 16-bit operands and result, sums in f32"
std::string to_string(MixedRule rule);

}  // namespace heddle::ir
