// The values at which definitions have to choose, of every dtype: limits, signs of zero, subnormals, NaN, infinities,
// neighbours of powers of two, halves that round to even.
#pragma once
#include "ir/evaluate/tensor.h"

namespace heddle::testing {

ir::Tensor edge_values(ir::DType dtype);

// Every combination of elements of the tensors, the first tensor's fastest: equally long tensors, one per operand.
std::vector<ir::Tensor> combinations(const std::vector<ir::Tensor>& values);

// Every value of a dtype of 8 or 16 bits, or bool.
ir::Tensor all_values(ir::DType dtype);

// Whether two elements are one value: bit for bit, but for the payload and sign of NaN.
bool same_element(const ir::Tensor& a, const ir::Tensor& b, int64_t i);

}  // namespace heddle::testing
