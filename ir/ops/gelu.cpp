#include <cmath>

#include "ir/ops/elementwise.h"

namespace heddle::ir {
namespace {

// d/dx x Phi(x) = Phi(x) + x phi(x), phi the density of the standard normal distribution.
Expr gradient(const Expr& x, const Expr&, const Expr& dy) {
  const Expr distribution = 0.5 * (1.0 + apply("erf", x * 0.7071067811865476));  // 1 / sqrt(2)
  const Expr density = 0.3989422804014327 * apply("exp", -0.5 * (x * x));        // 1 / sqrt(2 pi)
  return dy * (distribution + x * density);
}

const RegisterOp gelu(unary_op(
    "gelu", "x * Phi(x), Phi the standard normal distribution function (Hendrycks and Gimpel 2016, arXiv:1606.08415)",
    "T(0.5) * x * (T(1) + hd::erf(x * T(0.7071067811865476)))",
    [](double x) { return x * 0.5 * std::erfc(-x / std::sqrt(2.0)); }, gradient, samples_between(1, -3, 3), 20));

}  // namespace
}  // namespace heddle::ir
