// silu, hard_swish, mish: x times a gate that goes from 0 to 1.
#include <cmath>

#include "ir/ops/elementwise.h"

namespace heddle::ir {
namespace {

const RegisterOp silu(unary_op(
    "silu", "x * sigmoid(x), also called swish (Ramachandran et al. 2017, arXiv:1710.05941)",
    "x / (T(1) + hd::exp(-x))", [](double x) { return x / (1 + std::exp(-x)); },
    [](const Expr& x, const Expr& y, const Expr& dy) {
      const Expr gate = apply("sigmoid", x);
      return dy * (gate + y * (1.0 - gate));
    },
    samples_between(1, -3, 3), 12));

// Linear pieces meet at -3 and 3.
Expr hard_swish_gradient(const Expr& x, const Expr&, const Expr& dy) {
  const Expr inside = dy * (x / 3.0 + 0.5), above_low = select(apply("ge", x, 3), dy, inside);
  return select(apply("le", x, -3), 0, above_low);
}

const RegisterOp hard_swish(unary_op(
    "hard_swish",
    "x * min(max(x + 3, 0), 6) / 6, nan at -inf as by that formula (Howard et al. 2019, arXiv:1905.02244)",
    "x * hd::min(hd::max(x * T(0.16666666666666666) + T(0.5), T(0)), T(1))",
    [](double x) { return x * (std::fmin(std::fmax(x + 3, 0), 6) / 6); }, hard_swish_gradient,
    samples_around(1, -2.9, 2.9, 3.1, 5), 5));

// t + x (1 - t^2) sigmoid(x), t = tanh(softplus(x)).
Expr mish_gradient(const Expr& x, const Expr&, const Expr& dy) {
  const Expr gate = apply("tanh", apply("softplus", x));
  const Expr sigmoid = apply("sigmoid", x);
  return dy * (gate + x * (1.0 - gate * gate) * sigmoid);
}

const RegisterOp mish(unary_op(
    "mish", "x * tanh(softplus(x)) (Misra 2019, arXiv:1908.08681)",
    "x * hd::tanh(hd::max(x, T(0)) + hd::log1p(hd::exp(-hd::abs(x))))",
    [](double x) { return x > 30 ? x : x * std::tanh(std::log1p(std::exp(x))); }, mish_gradient,
    samples_between(1, -3, 3), 32));

}  // namespace
}  // namespace heddle::ir
