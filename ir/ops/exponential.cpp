// exp, expm1, log, log1p, sqrt, rsqrt, cbrt, reciprocal.
#include <cmath>

#include "ir/mixed_precision.h"
#include "ir/ops/elementwise.h"

namespace heddle::ir {
namespace {

const RegisterOp exp_op(unary_op(
    "exp", "e to the power x; exactly 0 at -inf", "hd::exp(x)", [](double x) { return std::exp(x); },
    [](const Expr&, const Expr& y, const Expr& dy) { return dy * y; }, samples_between(1, -3, 2), 8));

const RegisterOp expm1_op(unary_op(
    "expm1", "exp(x) - 1, accurate near 0", "hd::expm1(x)", [](double x) { return std::expm1(x); },
    [](const Expr& x, const Expr&, const Expr& dy) { return dy * apply("exp", x); },  // y + 1 loses digits below 0
    samples_between(1, -2, 2), 10));

const RegisterOp log_op(unary_op(
    "log", "natural logarithm; -inf at 0, nan below", "hd::log(x)", [](double x) { return std::log(x); },
    [](const Expr& x, const Expr&, const Expr& dy) { return dy / x; }, samples_between(1, 0.2, 4), 8));

const RegisterOp log1p_op(unary_op(
    "log1p", "log(1 + x), accurate near 0", "hd::log1p(x)", [](double x) { return std::log1p(x); },
    [](const Expr& x, const Expr&, const Expr& dy) { return dy / (x + 1.0); }, samples_between(1, -0.7, 3), 10));

const RegisterOp sqrt_op(unary_op(
    "sqrt", "square root; nan below 0", "hd::sqrt(x)", [](double x) { return std::sqrt(x); },
    [](const Expr&, const Expr& y, const Expr& dy) { return dy * (0.5 / y); }, samples_between(1, 0.2, 4), 4));

const RegisterOp rsqrt_op(unary_op(
    "rsqrt", "1 / sqrt(x)", "hd::rsqrt(x)", [](double x) { return 1 / std::sqrt(x); },
    [](const Expr&, const Expr& y, const Expr& dy) { return dy * (-0.5 * (y * y * y)); }, samples_between(1, 0.4, 4),
    4));

const RegisterOp cbrt_op(unary_op(
    "cbrt", "cube root", "hd::cbrt(x)", [](double x) { return std::cbrt(x); },
    [](const Expr&, const Expr& y, const Expr& dy) { return dy / (3.0 * (y * y)); },
    samples_around(1, 0.5, 3, -3, -0.5), 16));

const RegisterOp reciprocal_op(unary_op(
    "reciprocal", "1 / x", "T(1) / x", [](double x) { return 1 / x; },
    [](const Expr&, const Expr& y, const Expr& dy) { return -(dy * (y * y)); }, samples_around(1, 0.5, 3, -3, -0.5),
    4));

const StatesMixedPrecision exp_like({"exp", "expm1", "log", "log1p", "rsqrt", "reciprocal"}, MixedRule::wide);

}  // namespace
}  // namespace heddle::ir
