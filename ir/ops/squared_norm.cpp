#include "ir/evaluate/sums.h"
#include "ir/ops/reduce.h"

namespace heddle::ir {
namespace {

DType sum_dtype(DType dtype) { return dtype == DType::f64 ? DType::f64 : DType::f32; }

std::vector<Type> infer(const Signature& s) {
  for (const Type& x : s.operands)
    if (x.dtype != s.operands[0].dtype)
      throw InferError("operands differ in type: " + to_string(s.operands[0]) + " vs " + to_string(x));
  return {{sum_dtype(s.operands[0].dtype), {}}};
}

Values decomposition(Builder& b, const Node& n) {
  const std::vector<ValueId> operands = n.operands;
  ValueId total;
  for (const ValueId x : operands) {
    const ValueId wide = b.cast(x, sum_dtype(b.type(x).dtype));
    const ValueId sum = b("reduce_sum", {b("square", {wide})});
    total = total.valid() ? b("add", {total, sum}) : sum;
  }
  return {total};
}

Grads grad(Builder& b, const Node& n, const Values& dy) {
  const std::vector<ValueId> operands = n.operands;
  const ValueId twice = b("mul", {dy[0], b.like(2, dy[0])});
  Grads grads;
  for (const ValueId x : operands) {
    const Type type = b.type(x);
    grads.push_back(b("mul", {x, b.broadcast_to(b.cast(twice, type.dtype), type.dims)}));
  }
  return grads;
}

std::vector<Tensor> eval(const Signature& s, std::span<const Tensor* const> in) {
  Sum sum;
  for (const Tensor* x : in)
    for (const double v : x->real) sum.add(v * v);
  Tensor y(s.results[0]);
  y.real[0] = sum.total();
  return {y};
}

const RegisterOp squared_norm({.name = "squared_norm",
                               .doc = "the sum of the squares of all elements of all operands, in f32 or wider",
                               .operands = {"x"},
                               .variadic = true,
                               .attrs = {},
                               .dtypes = kFloating,
                               .kind = Composite{},
                               .traits = {.of_one_list = true},
                               .infer = infer,
                               .eval = eval,
                               .grad = grad,
                               .decomposition = decomposition,
                               .flops = 2,
                               .samples = {{.shapes = {{33}}},
                                           {.shapes = {{4, 7}, {5}}},
                                           {.shapes = {{1}, {3, 1, 5}, {2, 2}}},
                                           {.shapes = {{}}},
                                           {.shapes = {{1025}, {17}}}}});

}  // namespace
}  // namespace heddle::ir
