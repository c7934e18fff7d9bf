#include "ir/evaluate/sums.h"
#include "ir/ops/all_elements.h"

namespace heddle::ir {
namespace {

Values decomposition(Builder& b, const Node& n) { return {decompose_of_all(b, n, {"square", "reduce_sum", "add"})}; }

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
                               .infer = infer_of_all,
                               .eval = eval,
                               .grad = grad,
                               .decomposition = decomposition,
                               .flops = 2,
                               .samples = samples_of_all()});

}  // namespace
}  // namespace heddle::ir
