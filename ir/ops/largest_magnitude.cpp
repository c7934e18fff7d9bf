#include <algorithm>
#include <cmath>

#include "ir/ops/all_elements.h"

namespace heddle::ir {
namespace {

Values decomposition(Builder& b, const Node& n) { return {decompose_of_all(b, n, {"abs", "reduce_max", "max"})}; }

std::vector<Tensor> eval(const Signature& s, std::span<const Tensor* const> in) {
  Tensor y(s.results[0]);
  for (const Tensor* x : in)
    for (const double v : x->real)
      if (std::isnan(v) || std::abs(v) > y.real[0]) y.real[0] = std::abs(v);
  return {y};
}

const RegisterOp largest_magnitude(
    {.name = "largest_magnitude",
     .doc = "the largest |x| of all elements of all operands, in f32 or wider; NaN if one is: whether all are finite",
     .operands = {"x"},
     .variadic = true,
     .attrs = {},
     .dtypes = kFloating,
     .kind = Composite{},
     .traits = {.of_one_list = true},
     .infer = infer_of_all,
     .eval = eval,
     .decomposition = decomposition,
     .flops = 2,
     .samples = samples_of_all()});

}  // namespace
}  // namespace heddle::ir
