// Tensor: the values the evaluator computes with. Floating elements are doubles, all others 64-bit integers (bool as 0
// or 1).
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

// The nearest value of the dtype: round half to even for f32, f16, bf16; wraps integers to their width.
double round_to(DType dtype, double value);
int64_t wrap_to(DType dtype, int64_t value);
Tensor rounded(Tensor t);

}  // namespace heddle::ir
