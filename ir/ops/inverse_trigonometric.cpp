// asin, acos, atan, atan2.
#include <cmath>

#include "ir/mixed_precision.h"
#include "ir/ops/elementwise.h"

namespace heddle::ir {
namespace {

const RegisterOp asin_op(unary_op(
    "asin", "arc sine in radians; nan beyond [-1, 1]", "hd::asin(x)", [](double x) { return std::asin(x); },
    [](const Expr& x, const Expr&, const Expr& dy) { return dy * apply("rsqrt", 1.0 - x * x); },
    samples_between(1, -0.8, 0.8), 20));

const RegisterOp acos_op(unary_op(
    "acos", "arc cosine in radians; nan beyond [-1, 1]", "hd::acos(x)", [](double x) { return std::acos(x); },
    [](const Expr& x, const Expr&, const Expr& dy) { return -(dy * apply("rsqrt", 1.0 - x * x)); },
    samples_between(1, -0.8, 0.8), 20));

const RegisterOp atan_op(unary_op(
    "atan", "arc tangent in radians", "hd::atan(x)", [](double x) { return std::atan(x); },
    [](const Expr& x, const Expr&, const Expr& dy) { return dy / (1.0 + x * x); }, samples_between(1, -3, 3), 16));

OpDef atan2_def() {
  OpDef def = binary_op(
      "atan2", "the angle in (-pi, pi] of the point with the ordinate a and the abscissa b", "hd::atan2(a, b)",
      eval_real([](std::span<const double> x, const Signature&) { return std::atan2(x[0], x[1]); }),
      [](const Expr& a, const Expr& b, const Expr&, const Expr& dy) -> Grads {
        const Expr aa = a * a, squares = aa + b * b;
        const Expr share = select(apply("ne", squares, 0), dy / squares, 0);  // none at the origin, as in PyTorch
        const Expr da = share * b;
        return {da, -(share * a)};
      },
      samples_around(2, 0.5, 2, -2, -0.5));
  def.dtypes = kFloating;
  def.flops = 20;
  return def;
}
const RegisterOp atan2_op(atan2_def());

const StatesMixedPrecision steep({"acos", "asin"}, MixedRule::wide);

}  // namespace
}  // namespace heddle::ir
