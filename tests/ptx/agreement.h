// How far two results of one program lie apart.
#pragma once
#include <string>

#include "ir/evaluate/evaluate.h"

namespace heddle::testing {

struct Agreement {
  double nmse = 0;    // of the finite elements: the squares of differences over the squares of what is expected
  std::string fault;  // where the classes of elements that are not finite, or integers, differ; "": nowhere
};
// `counts`: which elements are compared (all where it is empty).
Agreement agreement(const ir::Tensor& expected, const ir::Tensor& got, const std::vector<bool>& counts = {});
// What kernels owe in this type: f64 and f32 1e-12, f16 and bf16 1e-4.
double most_nmse(ir::DType dtype);

}  // namespace heddle::testing
