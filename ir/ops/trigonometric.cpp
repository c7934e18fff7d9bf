// sin, cos, tan, tanh, erf.
#include <cmath>

#include "ir/mixed_precision.h"
#include "ir/ops/elementwise.h"

namespace heddle::ir {
namespace {

const RegisterOp sin_op(unary_op(
    "sin", "sine of x radians", "hd::sin(x)", [](double x) { return std::sin(x); },
    [](const Expr& x, const Expr&, const Expr& dy) { return dy * apply("cos", x); }, samples_between(1, -3, 3), 12));

const RegisterOp cos_op(unary_op(
    "cos", "cosine of x radians", "hd::cos(x)", [](double x) { return std::cos(x); },
    [](const Expr& x, const Expr&, const Expr& dy) { return -(dy * apply("sin", x)); }, samples_between(1, -3, 3), 12));

const RegisterOp tan_op(unary_op(
    "tan", "tangent of x radians", "hd::tan(x)", [](double x) { return std::tan(x); },
    [](const Expr&, const Expr& y, const Expr& dy) { return dy * (1.0 + y * y); }, samples_between(1, -1.2, 1.2), 16));

const RegisterOp tanh_op(unary_op(
    "tanh", "hyperbolic tangent, (e^x - e^-x) / (e^x + e^-x)", "hd::tanh(x)", [](double x) { return std::tanh(x); },
    [](const Expr&, const Expr& y, const Expr& dy) { return dy * (1.0 - y * y); }, samples_between(1, -2, 2), 12));

const RegisterOp erf_op(unary_op(
    "erf", "error function, 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x", "hd::erf(x)",
    [](double x) { return std::erf(x); },
    [](const Expr& x, const Expr&, const Expr& dy) {
      return dy * (1.1283791670955126 * apply("exp", -(x * x)));  // 2 / sqrt(pi)
    },
    samples_between(1, -2, 2), 16));

const StatesMixedPrecision steep({"tan"}, MixedRule::wide);

}  // namespace
}  // namespace heddle::ir
