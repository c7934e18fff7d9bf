// product_dims: finds which coordinates of a contraction are the rows, columns, matrices and depth of a matrix product.
//
//   conv2d  y[n,oh,ow,o] over kh, kw, i     rows n, oh, ow (of x alone); columns o (of w alone); depth kh, kw, i
//   matmul  y[b,m,n] over k                 rows m; columns n; matrices b (of both); depth k
//
// If one side reads a result coordinate only through a quotient, the coordinate is split: the quotient counts matrices,
// and the remainder belongs to the other side. The output channels of a grouped convolution are such a coordinate.
#pragma once
#include "ir/op_def.h"

namespace heddle::ir {

// One factor of a coordinate. A coordinate is the sum of place * multiplier over its factors, with place in [0,
// extent).
struct Factor {
  int coordinate = 0;
  int64_t multiplier = 1, extent = 1;
};
using Factors = std::vector<Factor>;  // the last one varies fastest

struct ProductDims {
  Factors rows, columns, matrices, depth;
  bool swapped = false;  // the left side is the contraction's second operand
};
ProductDims product_dims(const Signature& s, const ReductionDomain& d);

int64_t extent_of(const Factors& factors);
// The map from (row, column, matrix, k) to the coordinates of the result and of the reduction.
IndexMap product_point(const ProductDims& dims, const Dims& coordinates);

}  // namespace heddle::ir
