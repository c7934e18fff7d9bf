// softplus, softsign.
#include <cmath>

#include "ir/mixed_precision.h"
#include "ir/ops/elementwise.h"

namespace heddle::ir {
namespace {

const RegisterOp softplus(unary_op(
    "softplus", "log(1 + exp(x)), without overflow", "hd::max(x, T(0)) + hd::log1p(hd::exp(-hd::abs(x)))",
    [](double x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); },
    [](const Expr& x, const Expr&, const Expr& dy) { return dy * apply("sigmoid", x); }, samples_between(1, -3, 3),
    20));

// Smooth at 0, but its second derivative jumps there: the samples stay away.
const RegisterOp softsign(unary_op(
    "softsign", "x / (1 + |x|)", "x / (T(1) + hd::abs(x))", [](double x) { return x / (1 + std::abs(x)); },
    [](const Expr& x, const Expr&, const Expr& dy) {
      const Expr gate = 1.0 / (1.0 + apply("abs", x));
      return dy * (gate * gate);
    },
    samples_around(1, 0.1, 2, -2, -0.1), 5));

const StatesMixedPrecision log_like({"softplus"}, MixedRule::wide);

}  // namespace
}  // namespace heddle::ir
