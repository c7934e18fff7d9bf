#include "ir/evaluate/arithmetic.h"
#include "ir/mixed_precision.h"
#include "ir/ops/reduce.h"

namespace heddle::ir {
namespace {

// Every element of the operand counts once: its gradient is the gradient of its sum.
Grads spread_gradient(Builder& b, const Node& n, const Values& dy) {
  const Signature s = signature(b.graph, n);
  const Dims dims = s.operands[0].dims;
  return {spread(b, dy[0], dims, normal_axes(s.integers("axes"), s.operands[0].rank()))};
}

const RegisterOp sum(
    {.name = "reduce_sum",
     .doc = "y = sum of x over axes; a sum over nothing is 0",
     .operands = {"x"},
     .attrs = {axes_attribute()},
     .dtypes = kArithmetic,
     .kind = Reduction{monoids::kSum, "x", {"acc"}, reduced_domain},
     .traits = {.removes_axes = true, .of_equal = OfEqual::times},
     .infer = infer_reduced,
     .eval = eval_reduced({[](DType) { return 0.0; }, [](DType, double a, double x) { return a + x; }, true},
                          {[](DType) { return int64_t{0}; },
                           [](DType, int64_t a, int64_t x) { return wrapping(pattern(a) + pattern(x)); }}),
     .grad = spread_gradient,
     .samples = reduction_samples()});

std::vector<Tensor> eval_mean(const Signature& s, std::span<const Tensor* const> in) {
  std::vector<Tensor> y = op_def("reduce_sum").eval(s, in);
  const Type& x = s.operands[0];
  const int64_t count = reduced_count(x.dims, normal_axes(s.integers("axes"), x.rank()));
  for (double& value : y[0].real) value /= static_cast<double>(count);
  return y;
}

Grads mean_gradient(Builder& b, const Node& n, const Values& dy) {
  const Signature s = signature(b.graph, n);
  const Dims dims = s.operands[0].dims;
  const Dims axes = normal_axes(s.integers("axes"), s.operands[0].rank());
  const double share = 1 / static_cast<double>(reduced_count(dims, axes));
  return {spread(b, b("mul", {dy[0], b.like(share, dy[0])}), dims, axes)};
}

const RegisterOp mean({.name = "reduce_mean",
                       .doc = "y = (sum of x over axes) / (number of elements summed)",
                       .operands = {"x"},
                       .attrs = {axes_attribute()},
                       .dtypes = kFloating,
                       .kind = Reduction{monoids::kSum, "x", {"acc / T(count)"}, reduced_domain},
                       .traits = {.removes_axes = true, .of_equal = OfEqual::itself},
                       .infer = infer_reduced,
                       .eval = eval_mean,
                       .grad = mean_gradient,
                       .samples = reduction_samples()});

const StatesMixedPrecision means({"reduce_mean"}, MixedRule::wide, "16 bits");

}  // namespace
}  // namespace heddle::ir
