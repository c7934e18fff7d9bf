// Tensor: a value of the evaluator. Floating elements are doubles; all others are 64-bit integers (bool is 0 or 1).
#pragma once
#include <vector>

#include "ir/type.h"

namespace heddle::ir {

struct Tensor {
  Type type;
  std::vector<double> real;      // floating dtypes
  std::vector<int64_t> integer;  // integer dtypes and bool

  Tensor() = default;
  explicit Tensor(Type t);  // zeros
  bool floating() const { return is_floating(type.dtype); }
  int64_t elements() const { return type.elements(); }
  double at(int64_t i) const;                           // as a double, whatever the dtype
  void set(int64_t i, double value);                    // converts; integers truncate toward zero and wrap
  void copy(int64_t i, const Tensor& from, int64_t j);  // exact for equal kinds of dtype
};

// The value in the dtype: round_to rounds half to even, wrap_to wraps an integer to its width, rounded does either.
double round_to(DType dtype, double value);
int64_t wrap_to(DType dtype, int64_t value);
Tensor rounded(Tensor t);

}  // namespace heddle::ir
