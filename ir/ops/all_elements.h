// Shared parts of operators that combine all elements of all operands. They compute in f32 or wider.
//
//   %x: bf16[4,7], %y: bf16[5]   ->   %z: f32[] = join(reduction(element(f32 %x)), reduction(element(f32 %y)))
#pragma once
#include "ir/builder.h"

namespace heddle::ir {

// The shape rule. All operands must have the same dtype, else it throws InferError.
std::vector<Type> infer_of_all(const Signature& s);

// Names of the operators of the decomposition: for an element, for the elements of an operand, and for two results.
struct OfAll {
  const char *element, *reduction, *join;
};
ValueId decompose_of_all(Builder& b, const Node& n, const OfAll& how);

std::vector<Sample> samples_of_all();

}  // namespace heddle::ir
