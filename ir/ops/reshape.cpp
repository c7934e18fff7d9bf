#include <fmt/format.h>

#include "ir/builder.h"
#include "ir/ops/shape.h"

namespace heddle::ir {
namespace {

std::vector<Type> infer(const Signature& s) {
  const Type result = checked_type(s.operands[0].dtype, s.integers("shape"));
  if (result.elements() != s.operands[0].elements())
    throw InferError(fmt::format("{} has {} elements, shape {} has {}", to_string(s.operands[0]),
                                 s.operands[0].elements(), to_string(result.dims), result.elements()));
  return {result};
}

std::vector<Tensor> eval(const Signature& s, std::span<const Tensor* const> operands) {
  Tensor y = *operands[0];
  y.type = s.results[0];
  return {std::move(y)};
}

Sample sample(const Dims& from, const Dims& shape) { return {.shapes = {from}, .attrs = {{"shape", shape}}}; }

const RegisterOp op({.name = "reshape",
                     .doc = "the same elements in row-major order, in another shape",
                     .operands = {"x"},
                     .attrs = {{.name = "shape",
                                .type = KeyType::integer,
                                .count = Count::several,
                                .doc = "the result's shape",
                                .required = true}},
                     .kind = Movement{[](const Signature& s) -> std::vector<IndexMap> {
                       return {reshape_map(s.integers("shape"), s.operands[0].dims)};
                     }},
                     .traits = {.reshapes = true},
                     .infer = infer,
                     .eval = eval,
                     .grad = [](Builder& b, const Node& n, const Values& dy) -> Grads {
                       return {b.reshape(dy[0], Dims(b.type(n.operands[0]).dims))};
                     },
                     .flops = 0,
                     .samples = {sample({4, 33}, {132}), sample({132}, {4, 33}), sample({1}, {}),
                                 sample({2, 7, 3}, {7, 6}), sample({3, 1, 5}, {3, 5}), sample({6, 35}, {10, 21}),
                                 sample({}, {1, 1})}});

}  // namespace
}  // namespace heddle::ir
