#include <algorithm>
#include <cmath>

#include "ir/op_def.h"
#include "ir/ops/reduce.h"

namespace heddle::ir {
namespace {

DType wide_dtype(DType dtype) { return dtype == DType::f64 ? DType::f64 : DType::f32; }

std::vector<Type> infer(const Signature& s) {
  for (const Type& x : s.operands)
    if (x.dtype != s.operands[0].dtype)
      throw InferError("operands differ in type: " + to_string(s.operands[0]) + " vs " + to_string(x));
  return {{wide_dtype(s.operands[0].dtype), {}}};
}

Values decomposition(Builder& b, const Node& n) {
  const std::vector<ValueId> operands = n.operands;
  ValueId largest;
  for (const ValueId x : operands) {
    const ValueId wide = b.cast(x, wide_dtype(b.type(x).dtype));
    const ValueId own = b("reduce_max", {b("abs", {wide})});
    largest = largest.valid() ? b("max", {largest, own}) : own;
  }
  return {largest};
}

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
     .infer = infer,
     .eval = eval,
     .decomposition = decomposition,
     .flops = 2,
     .samples = {{.shapes = {{33}}},
                 {.shapes = {{4, 7}, {5}}},
                 {.shapes = {{1}, {3, 1, 5}, {2, 2}}},
                 {.shapes = {{}}},
                 {.shapes = {{1025}, {17}}}}});

}  // namespace
}  // namespace heddle::ir
