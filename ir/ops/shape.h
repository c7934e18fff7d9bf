// Shared checks for the shape rules of sources and movements. All throw InferError.
#pragma once
#include "ir/op_def.h"

namespace heddle::ir {

// A type of these dims. Each must be positive; at most kMaxRank of them, and at most 2^40 elements.
inline constexpr size_t kMaxRank = 16;
Type checked_type(DType dtype, const Dims& dims);
DType checked_dtype(const std::string& text);
// Throws "perm has 2 entries for rank 3" if the length is not the rank.
void require_length(std::string_view what, const Dims& list, int64_t rank);

}  // namespace heddle::ir
