// comes_before: the order of argsort and merge_runs, for their oracles.
#pragma once
#include <cmath>

#include "ir/evaluate/tensor.h"

namespace heddle::ir {

// Whether element a comes before element b. NaN is larger than everything. Equal elements: false.
inline bool comes_before(const Tensor& x, int64_t a, int64_t b, bool descending) {
  const auto i = static_cast<size_t>(a), k = static_cast<size_t>(b);
  if (descending) return comes_before(x, b, a, false);
  if (x.floating()) return x.real[i] < x.real[k] || (!std::isnan(x.real[i]) && std::isnan(x.real[k]));
  if (x.type.dtype == DType::u64) return static_cast<uint64_t>(x.integer[i]) < static_cast<uint64_t>(x.integer[k]);
  return x.integer[i] < x.integer[k];
}

}  // namespace heddle::ir
