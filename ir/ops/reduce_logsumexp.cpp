#include <cmath>

#include "ir/evaluate/sums.h"
#include "ir/ops/loops.h"
#include "ir/ops/reduce.h"

namespace heddle::ir {
namespace {

Dims axes_of(const Signature& s) { return normal_axes(s.integers("axes"), s.operands[0].rank()); }

// The largest elements first, then the sums of what remains without them.
std::vector<Tensor> eval(const Signature& s, std::span<const Tensor* const> in) {
  const std::vector<Tensor> largest = op_def("reduce_max").eval(s, in);
  const Dims& dims = in[0]->type.dims;
  const Dims axes = axes_of(s);
  Tensor y(s.results[0]);
  Sums sums(y.real.size());
  const auto result = [&](const Dims& at) {
    return static_cast<size_t>(position(y.type.dims, without_axes(at, axes)));
  };
  const auto shift = [&](size_t to) {
    const double most = largest[0].real[to];
    return std::isinf(most) ? 0 : most;
  };
  size_t from = 0;
  for_each_point(dims, [&](const Dims& at) {
    const size_t to = result(at);
    sums.add(to, std::exp(in[0]->real[from++] - shift(to)));
  });
  for (size_t to = 0; to < y.real.size(); ++to) y.real[to] = shift(to) + std::log(sums.total(to));
  return {std::move(y)};
}

Values decompose(Builder& b, const Node& n) {
  const Signature s = signature(b.graph, n);
  const Dims dims = s.operands[0].dims, axes = axes_of(s);
  const ValueId largest = b("reduce_max", {n.operands[0]}, {{"axes", axes}});
  const ValueId shift = shift_of(b, largest);
  const ValueId powers = b("exp", {b("sub", {n.operands[0], spread(b, shift, dims, axes)})});
  return {b("add", {shift, b("log", {b("reduce_sum", {powers}, {{"axes", axes}})})})};
}

// dy times the softmax of x.
Grads gradient(Builder& b, const Node& n, const Values& dy) {
  const Signature s = signature(b.graph, n);
  const Dims dims = s.operands[0].dims, axes = axes_of(s);
  const ValueId share = b("exp", {b("sub", {n.operands[0], spread(b, n.results[0], dims, axes)})});
  return {b("mul", {spread(b, dy[0], dims, axes), share})};
}

const RegisterOp reduce_logsumexp({.name = "reduce_logsumexp",
                                   .doc = "y = log of the sum of exp(x) over axes, which does not overflow; -inf where "
                                          "every element is",
                                   .operands = {"x"},
                                   .attrs = {axes_attribute()},
                                   .dtypes = kFloating,
                                   .kind = Composite{},
                                   .traits = {.removes_axes = true},
                                   .infer = infer_reduced,
                                   .eval = eval,
                                   .grad = gradient,
                                   .decomposition = decompose,
                                   .flops = 3,
                                   .samples = reduction_samples()});

}  // namespace
}  // namespace heddle::ir
