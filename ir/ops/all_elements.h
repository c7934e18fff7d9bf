// What operators over all elements of all operands have in common. Each element is taken in f32 or wider.
//
//   %x: bf16[4,7], %y: bf16[5]   ->   %z: f32[] = join(reduction(element(f32 %x)), reduction(element(f32 %y)))
#pragma once
#include "ir/builder.h"

namespace heddle::ir {

// All operands have one type of element. Throws InferError.
std::vector<Type> infer_of_all(const Signature& s);

// Names of operators: of an element, of the elements of an operand, and of two such results.
struct OfAll {
  const char *element, *reduction, *join;
};
ValueId decompose_of_all(Builder& b, const Node& n, const OfAll& how);

std::vector<Sample> samples_of_all();

}  // namespace heddle::ir
