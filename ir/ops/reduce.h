// What the reductions over whole axes share: shape rule, domain, oracle and the way back to the operand's shape.
//
//   %y: f32[64] = reduce_sum(%x) {axes = [1]}
#pragma once
#include "ir/builder.h"

namespace heddle::ir {

Key axes_attribute();

// `dims` without `axes`, which are normalised.
Dims without_axes(const Dims& dims, const Dims& axes);
// How many elements of `dims` meet in one result.
int64_t reduced_count(const Dims& dims, const Dims& axes);
// Shape rule of a reduction with attribute `axes`: the operand's type without them.
std::vector<Type> infer_reduced(const Signature& s);
// The domain of a reduction of `dims` over `axes`: result coordinates are the other axes in order.
ReductionDomain axes_domain(const Dims& dims, const Dims& axes);
ReductionDomain reduced_domain(const Signature& s);  // over the attribute `axes`

// Folds the elements that meet in each result, in row-major order, from `start`; integers stay integers.
template <class T>
struct Fold {
  std::function<T(DType)> start;
  std::function<T(DType, T, T)> combine;
  bool adds = false;  // doubles: without what rounding would lose
};
Eval eval_reduced(Fold<double> real, Fold<int64_t> integer);

// Element i of `x` comes before element j where the largest, or smallest, is looked for: NaN comes
// first, as in PyTorch; of equals neither does.
bool comes_first(const Tensor& x, int64_t i, int64_t j, bool largest);

// Broadcasts a value that lost `axes` of `dims` back to `dims`.
ValueId spread(Builder& b, ValueId v, const Dims& dims, const Dims& axes);

// What to subtract from elements before exp, so that it does not overflow: the largest, or 0 where that is infinite. The
// sum of exp is then 0 or infinite, and so is its logarithm.
ValueId shift_of(Builder& b, ValueId largest);

// Shapes that every reduction is tested on.
std::vector<Sample> reduction_samples();

}  // namespace heddle::ir
