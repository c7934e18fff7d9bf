#include <fmt/format.h>

#include "ir/ops/elementwise.h"

namespace heddle::ir {
namespace {

std::vector<Type> infer(const Signature& s) {
  const Type &condition = s.operands[0], &a = s.operands[1], &b = s.operands[2];
  if (a != b) throw InferError(fmt::format("both choices must have one type: {} vs {}", to_string(a), to_string(b)));
  if (condition.dims != a.dims)
    throw InferError(
        fmt::format("the condition has shape {}, the choices {}", to_string(condition.dims), to_string(a.dims)));
  return {a};
}

std::vector<Tensor> eval(const Signature& s, std::span<const Tensor* const> x) {
  Tensor y(s.results[0]);
  for (int64_t i = 0; i < y.elements(); ++i) y.copy(i, x[0]->integer[static_cast<size_t>(i)] != 0 ? *x[1] : *x[2], i);
  return {std::move(y)};
}

Grads gradient(Builder& b, const Node& n, const Values& dy) {
  const Expr condition{b, n.operands[0]}, g{b, dy[0]};
  return {ValueId{}, select(condition, g, 0), select(condition, 0, g)};
}

// The condition's elements are drawn from {0, 1}.
Sample sample(const Dims& dims) {
  return {.shapes = {dims, dims, dims}, .below = 2, .dtypes = {DType::boolean, DType::f32, DType::f32}};
}

const RegisterOp op({.name = "select",
                     .doc = "a where the condition holds, elsewhere b",
                     .operands = {"condition", "a", "b"},
                     .dtypes = {DType::boolean},
                     .kind = Elementwise{"condition ? a : b"},
                     .infer = infer,
                     .eval = eval,
                     .grad = gradient,
                     .samples = {sample({4, 33}), sample({1}), sample({}), sample({3, 1, 5}), sample({64})}});

}  // namespace
}  // namespace heddle::ir
