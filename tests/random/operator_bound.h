// One operator on bounded operands.
#pragma once
#include "ir/op_def.h"
#include "tests/random/error_bound.h"

namespace heddle::testing {

std::vector<Bounded> evaluate_bounded(const ir::Signature& s, const std::vector<const Bounded*>& operands,
                                      ir::Precision precision);
// Between two elements; 0 for equal ones and for two nan, infinite where the classes differ.
double distance(const ir::Tensor& a, const ir::Tensor& b, int64_t i);
std::string element_text(const ir::Tensor& t, int64_t i);

}  // namespace heddle::testing
