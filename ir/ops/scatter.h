// What scatter and the primitive that it becomes share.
#pragma once
#include "ir/op_def.h"

namespace heddle::ir {

// How an update meets what is there: add, mul, max, min, or set, where the last update stays.
inline const std::vector<std::string> kCombinations = {"set", "add", "mul", "max", "min"};
// Throws InferError where there are no rows to write to, or `combine` is none of these.
void check_target(const Signature& s);
Dims with_rows(Dims dims, int64_t rows);
Key combine_attr();
bool combines_by_adding(const Node& n);

// The oracle: updates in their order, one by one; those whose index is no row are left out.
Tensor scatter_in_order(const Tensor& x, const Tensor& indices, const Tensor& updates, const std::string& combine);

}  // namespace heddle::ir
