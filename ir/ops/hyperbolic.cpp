// sinh, cosh, asinh, acosh, atanh. tanh, an activation, is in trigonometric.cpp.
#include <cmath>

#include "ir/mixed_precision.h"
#include "ir/ops/elementwise.h"

namespace heddle::ir {
namespace {

const RegisterOp sinh_op(unary_op(
    "sinh", "hyperbolic sine, (e^x - e^-x) / 2", "hd::sinh(x)", [](double x) { return std::sinh(x); },
    [](const Expr& x, const Expr&, const Expr& dy) { return dy * apply("cosh", x); }, samples_between(1, -2, 2), 20));

const RegisterOp cosh_op(unary_op(
    "cosh", "hyperbolic cosine, (e^x + e^-x) / 2", "hd::cosh(x)", [](double x) { return std::cosh(x); },
    [](const Expr& x, const Expr&, const Expr& dy) { return dy * apply("sinh", x); }, samples_between(1, -2, 2), 20));

const RegisterOp asinh_op(unary_op(
    "asinh", "inverse hyperbolic sine, log(x + sqrt(x^2 + 1))", "hd::asinh(x)", [](double x) { return std::asinh(x); },
    [](const Expr& x, const Expr&, const Expr& dy) { return dy * apply("rsqrt", x * x + 1.0); },
    samples_between(1, -3, 3), 24));

const RegisterOp acosh_op(unary_op(
    "acosh", "inverse hyperbolic cosine, log(x + sqrt(x^2 - 1)); nan below 1", "hd::acosh(x)",
    [](double x) { return std::acosh(x); },
    [](const Expr& x, const Expr&, const Expr& dy) { return dy * apply("rsqrt", x * x - 1.0); },
    samples_between(1, 1.3, 4), 24));

const RegisterOp atanh_op(unary_op(
    "atanh", "inverse hyperbolic tangent, log((1 + x) / (1 - x)) / 2; nan beyond [-1, 1]", "hd::atanh(x)",
    [](double x) { return std::atanh(x); },
    [](const Expr& x, const Expr&, const Expr& dy) { return dy / (1.0 - x * x); }, samples_between(1, -0.8, 0.8), 24));

const StatesMixedPrecision exp_like({"cosh", "sinh"}, MixedRule::wide);

}  // namespace
}  // namespace heddle::ir
