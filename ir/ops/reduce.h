// Shared parts of reductions over whole axes: shape rule, domain, oracle, and the broadcast back to the operand's
// shape.
//
//   %y: f32[64] = reduce_sum(%x) {axes = [1]}
#pragma once
#include "ir/builder.h"

namespace heddle::ir {

Key axes_attribute();

// `dims` without `axes`, which must be normalised.
Dims without_axes(const Dims& dims, const Dims& axes);
// The number of elements of `dims` that are combined to one result.
int64_t reduced_count(const Dims& dims, const Dims& axes);
// The shape rule of a reduction with the attribute `axes`: the operand's type without these axes.
std::vector<Type> infer_reduced(const Signature& s);
// The domain of a reduction of `dims` over `axes`. The result coordinates are the other axes in order.
ReductionDomain axes_domain(const Dims& dims, const Dims& axes);
ReductionDomain reduced_domain(const Signature& s);  // over the attribute `axes`

// A fold of the elements of each result, in row-major order, beginning with `start`. Integers stay integers.
template <class T>
struct Fold {
  std::function<T(DType)> start;
  std::function<T(DType, T, T)> combine;
  bool adds = false;  // a sum; of doubles it is compensated (ir/evaluate/sums.h)
};
Eval eval_reduced(Fold<double> real, Fold<int64_t> integer);

// Whether element i of `x` comes before element j in a search for the largest (or smallest) element. NaN comes first,
// as in PyTorch. Equal elements: false.
bool comes_first(const Tensor& x, int64_t i, int64_t j, bool largest);

// Broadcasts a value without the axes `axes` of `dims` back to `dims`.
ValueId spread(Builder& b, ValueId v, const Dims& dims, const Dims& axes);

// The number to subtract before exp, so that exp does not overflow: the largest element, or 0 if that is infinite. In
// the latter case the sum of exp is 0 or infinite, and its logarithm is infinite.
ValueId shift_of(Builder& b, ValueId largest);

// Shapes that every reduction is tested on.
std::vector<Sample> reduction_samples();

}  // namespace heddle::ir
