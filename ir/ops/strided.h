// copy_strided: copies elements with a stride per dimension. The oracles of the movement operators are made of it.
#pragma once
#include "ir/evaluate/tensor.h"

namespace heddle::ir {

// An affine position: offset + sum of index[d] * strides[d], in elements.
struct Strided {
  int64_t offset = 0;
  Dims strides;
};
// to[write(index)] = from[read(index)] for each index of `extents`.
void copy_strided(Tensor& to, const Strided& write, const Tensor& from, const Strided& read, const Dims& extents);

}  // namespace heddle::ir
