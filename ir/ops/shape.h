// Checks that the shape rules of sources and movement share. All throw InferError.
#pragma once
#include "ir/op_def.h"

namespace heddle::ir {

// A type of these dims: each positive, at most kMaxRank of them, at most 2^40 elements.
inline constexpr size_t kMaxRank = 16;
Type checked_type(DType dtype, const Dims& dims);
DType checked_dtype(const std::string& text);
// "perm has 2 entries for rank 3".
void require_length(std::string_view what, const Dims& list, int64_t rank);

}  // namespace heddle::ir
