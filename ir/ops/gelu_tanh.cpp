#include <cmath>

#include "ir/ops/elementwise.h"

namespace heddle::ir {
namespace {

constexpr double kSlope = 0.7978845608028654;  // sqrt(2 / pi)
constexpr double kCubic = 0.044715;

// With u = slope (x + cubic x^3) and t = tanh(u): (1 + t) / 2 + x (1 - t^2) u' / 2.
Expr gradient(const Expr& x, const Expr&, const Expr& dy) {
  const Expr square = x * x;
  const Expr t = apply("tanh", kSlope * (x * (1.0 + kCubic * square)));
  const Expr slope = kSlope * (1.0 + 3 * kCubic * square);
  return dy * (0.5 * (1.0 + t + x * (1.0 - t * t) * slope));
}

const RegisterOp gelu_tanh(unary_op(
    "gelu_tanh",
    "x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))), close to gelu (Hendrycks and Gimpel 2016, "
    "arXiv:1606.08415)",
    // As x sigmoid(2 u), which keeps its digits where tanh(u) is -1.
    "x / (T(1) + hd::exp(T(-1.5957691216057308) * (x + T(0.044715) * x * x * x)))",
    [](double x) { return x / (1 + std::exp(-2 * kSlope * (x + kCubic * std::pow(x, 3)))); },  // x sigmoid(2 u)
    gradient, samples_between(1, -3, 3), 20));

}  // namespace
}  // namespace heddle::ir
