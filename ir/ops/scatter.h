// Shared parts of scatter and scatter_rows, the primitive into which it is decomposed.
#pragma once
#include "ir/op_def.h"

namespace heddle::ir {

// How an update is combined with the present element. With `set`, the last update stays.
inline const std::vector<std::string> kCombinations = {"set", "add", "mul", "max", "min"};
// Throws InferError if there are no rows to write to, or `combine` is none of these.
void check_target(const Signature& s);
Dims with_rows(Dims dims, int64_t rows);
Key combine_attr();
bool combines_by_adding(const Node& n);

// The oracle: applies the updates in order, one by one. Updates whose index is out of range are ignored.
Tensor scatter_in_order(const Tensor& x, const Tensor& indices, const Tensor& updates, const std::string& combine);

}  // namespace heddle::ir
