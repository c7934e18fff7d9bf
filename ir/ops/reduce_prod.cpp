#include "ir/evaluate/arithmetic.h"
#include "ir/ops/reduce.h"

namespace heddle::ir {
namespace {

// dy times the product of the other elements. It is y / x where no element is zero; where exactly one is, that one gets
// the product of the others; where more are, nothing. Second derivatives are exact where no element is zero.
Grads product_gradient(Builder& b, const Node& n, const Values& dy) {
  const Signature s = signature(b.graph, n);
  const ValueId x = n.operands[0];
  const Dims dims = s.operands[0].dims;
  const Dims axes = normal_axes(s.integers("axes"), s.operands[0].rank());
  const ValueId zero = b("eq", {x, b.like(0, x)});
  const ValueId nonzero = b("select", {zero, b.like(1, x), x});
  const ValueId others = b("mul", {dy[0], b("reduce_prod", {nonzero}, {{"axes", axes}})});
  const ValueId zeros = b("reduce_sum", {b.cast(zero, DType::i32)}, {{"axes", axes}});
  const ValueId none = b("select", {b("eq", {zeros, b.like(0, zeros)}), others, b.like(0, others)});
  const ValueId one = b("select", {b("eq", {zeros, b.like(1, zeros)}), others, b.like(0, others)});
  const ValueId quotient = b("div", {spread(b, none, dims, axes), nonzero});
  return {b("select", {zero, spread(b, one, dims, axes), quotient})};
}

std::vector<Sample> samples_away_from_zero() {
  std::vector<Sample> samples = reduction_samples();
  for (Sample& sample : samples) {
    sample.low = 0.5;
    sample.high = 1.5;
  }
  return samples;
}

const RegisterOp prod(
    {.name = "reduce_prod",
     .doc = "y = product of x over axes; a product over nothing is 1",
     .operands = {"x"},
     .attrs = {axes_attribute()},
     .dtypes = kArithmetic,
     .kind = Reduction{monoids::kProd, "x", {"acc"}, reduced_domain},
     .traits = {.removes_axes = true, .of_equal = OfEqual::power},
     .infer = infer_reduced,
     .eval = eval_reduced({[](DType) { return 1.0; }, [](DType, double a, double x) { return a * x; }},
                          {[](DType) { return int64_t{1}; },
                           [](DType, int64_t a, int64_t x) { return wrapping(pattern(a) * pattern(x)); }}),
     .grad = product_gradient,
     .samples = samples_away_from_zero()});

}  // namespace
}  // namespace heddle::ir
